package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** No attack: a slow but steady reader under BLOCK, which the bus promises not to cut. */
record DripCut() implements Attack {
  private static final int MIN_SECONDS = 40;
  private static final int DRAIN_MILLIS = 4_000;
  private static final int POLL_MILLIS = 50;
  private static final int EVENT = 10_000;

  @Override
  public String name() {
    return "drip-cut";
  }

  @Override
  public String what() {
    return "a reader under BLOCK takes 100 KB/s of a faster topic: it must not be closed";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("drip", 100_000L, "rcvbuf", 65_536L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    Reader reader = new Reader(field);
    field
        .wires()
        .openHonest(Opening.client(field.bus()).withReceiveBuffer(field.knob("rcvbuf")), reader);
    while (!field.over() && field.tally().get("subscribed") == 0) {
      field.sleep(20);
    }
    HostileSender sender = HostileSender.connectHonest(field);
    byte[] payload = new byte[EVENT];
    long sequence = 1;
    while (sender != null
        && sender.send(ClientFrames.publish("drip", sequence, false, 1, payload))) {
      sequence++;
    }
    field.tally().add("published", sequence - 1);
    reader.drain();
    field
        .tally()
        .check(
            "the slow reader stays connected",
            reader.closeCode == 0 && sender != null && sender.closeCode() == 0,
            reader.closeCode == 0 ? "connected" : "closed with " + reader.closeCode);
  }

  private static final class Reader implements AttackPeer {
    private final HostileSubscriber subscriber;
    private volatile @Nullable AttackWire open;
    private volatile int closeCode;

    Reader(Field field) {
      subscriber =
          new HostileSubscriber(
              field.tally(),
              List.of(ClientFrames.subscribe(1, "drip", Overflow.BLOCK)),
              field.knob("drip"),
              false);
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      open = wire;
      subscriber.welcomed(wire, welcome);
    }

    @Override
    public boolean reads() {
      return subscriber.reads();
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      subscriber.frame(wire, type, message, from, to);
    }

    /** Reads what is left: a Close may stand behind megabytes that it has not come to yet. */
    void drain() throws InterruptedException {
      AttackWire now = open;
      if (now != null) {
        now.readAll();
      }
      for (int i = 0; i < DRAIN_MILLIS / POLL_MILLIS && closeCode == 0; i++) {
        Thread.sleep(POLL_MILLIS);
      }
    }

    @Override
    public void closed(AttackWire wire, int code) {
      closeCode = code;
    }
  }
}
