package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.BusAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/** ClientHello that is recorded and sent again and again: it costs the sender nothing. */
record TlsHello() implements Attack {
  private static final int MAX_OPEN = 512;

  @Override
  public String name() {
    return "tls-hello";
  }

  @Override
  public String what() {
    return "one recorded ClientHello, 1,000 times a second";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("rate", 1_000L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.withTls().withLongSteps();
  }

  @Override
  public void run(Field field) throws Exception {
    ByteBuf hello = hello();
    AtomicInteger open = new AtomicInteger();
    long interval = 1_000_000_000L / field.knob("rate");
    long due = System.nanoTime();
    while (!field.over()) {
      due = Math.max(due + interval, System.nanoTime() - 100 * interval);
      while (System.nanoTime() < due || (open.get() >= MAX_OPEN && !field.over())) {
        Thread.sleep(1);
      }
      open.incrementAndGet();
      field.tally().add("hellos", 1);
      field.wires().openTcp(field.bus().port(), new Replay(field, hello, open));
    }
  }

  /** Records one. */
  static ByteBuf hello() throws GeneralSecurityException, SSLException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, null, null);
    SSLEngine engine = context.createSSLEngine(BusAddress.HOST, 0);
    engine.setUseClientMode(true);
    ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), out);
    return Unpooled.copiedBuffer(out.flip());
  }

  /** Sends the recording, waits for the first octets of the answer, and goes. */
  private record Replay(Field field, ByteBuf hello, AtomicInteger open) implements AttackPeer {
    @Override
    public void connected(AttackWire wire) {
      wire.send(hello.retainedDuplicate());
    }

    @Override
    public void octets(AttackWire wire, ByteBuf octets) {
      field.tally().add("answers", 1);
      wire.reset();
    }

    @Override
    public void closed(AttackWire wire, int code) {
      open.decrementAndGet();
    }
  }
}
