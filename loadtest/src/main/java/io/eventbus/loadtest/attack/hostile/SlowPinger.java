package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** Subscribers of everything that hardly read, and send pings whose answers pile up behind it. */
record SlowPinger() implements Attack {
  private static final int CHUNK = 16 * 1024;

  @Override
  public String name() {
    return "ping-slow-reader";
  }

  @Override
  public String what() {
    return "20 subscribers of > that read 1,000 B/s and send pings";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 20L, "drip", 1_000L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    ByteBuf pings = Octets.repeated(Octets.frame(Octets.FINAL | Octets.PING, new byte[100]), CHUNK);
    List<byte[]> subscribe = List.of(ClientFrames.subscribe(1, ">", Overflow.DROP_OLDEST));
    new Swarm(
            field,
            Opening.client(field.bus()).withReceiveBuffer(CHUNK),
            field.knob("conns"),
            i ->
                new Pings(
                    new HostileSubscriber(field.tally(), subscribe, field.knob("drip"), false),
                    Flood.of(pings, false)))
        .hold();
  }

  /** Reads slowly as the one, and writes all the time as the other. */
  private record Pings(HostileSubscriber subscriber, Flood flood) implements AttackPeer {
    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      subscriber.welcomed(wire, welcome);
      flood.welcomed(wire, welcome);
    }

    @Override
    public boolean reads() {
      return subscriber.reads();
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      subscriber.frame(wire, type, message, from, to);
    }

    @Override
    public void writable(AttackWire wire) {
      flood.writable(wire);
    }
  }
}
