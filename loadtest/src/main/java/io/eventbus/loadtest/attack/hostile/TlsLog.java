package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A ClientHello that no server can answer, from connections that do not wait for the alert. */
record TlsLog() implements Attack {
  private static final int MAX_OPEN = 64;
  private static final int LOG_LINES_PER_SECOND = 20;

  /** Before the cipher suites: the heads of record and handshake, a version, random octets. */
  private static final int SESSION_AT = 5 + 4 + 2 + 32;

  /** Reserved (RFC 8701), so that no server knows it. */
  private static final int NO_CIPHER = 0x0A0A;

  @Override
  public String name() {
    return "tls-log";
  }

  @Override
  public String what() {
    return "ClientHellos without a common cipher suite, closed at once: what is logged of each";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", (long) MAX_OPEN);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.withTls().withLongSteps().withLogLinesPerSecond(LOG_LINES_PER_SECOND);
  }

  @Override
  public void run(Field field) throws Exception {
    ByteBuf hello = TlsHello.hello();
    int suites = SESSION_AT + 1 + hello.getUnsignedByte(SESSION_AT);
    for (int at = 0; at < hello.getUnsignedShort(suites); at += 2) {
      hello.setShort(suites + 2 + at, NO_CIPHER);
    }
    AtomicInteger open = new AtomicInteger();
    while (!field.over()) {
      while (open.get() < field.knob("conns") && !field.over()) {
        open.incrementAndGet();
        field.tally().add("hellos", 1);
        field.wires().openTcp(field.bus().port(), new Leaves(hello, open));
      }
      Thread.sleep(1);
    }
  }

  /** Sends the hello and goes. */
  private record Leaves(ByteBuf hello, AtomicInteger open) implements AttackPeer {
    @Override
    public void connected(AttackWire wire) {
      wire.send(hello.retainedDuplicate());
      wire.end();
    }

    @Override
    public void closed(AttackWire wire, int code) {
      open.decrementAndGet();
    }
  }
}
