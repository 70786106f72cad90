package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A well-behaved subscriber that reads evenly what comes in bursts of about a megabyte, so that
 * much of it waits at the bus, and the publisher of the bursts.
 */
final class SteadyReader implements AttackPeer {
  private static final String TOPIC = "steady";
  private static final int READ_PER_SECOND = 1_500_000;
  private static final int EVENT = 2_000;
  private static final int BURST = 600;
  private static final int EVERY_MILLIS = 1_000;

  private final Field field;
  private final AtomicLong published = new AtomicLong();
  private final AtomicLong received = new AtomicLong();
  private final byte[] payload = new byte[EVENT];
  private volatile boolean begun;
  private volatile int closeCode;
  private volatile int publisherCode;

  private SteadyReader(Field field) {
    this.field = field;
  }

  /** Connects both, and waits until the first burst is on its way. */
  static SteadyReader begin(Field field) throws InterruptedException {
    SteadyReader reader = new SteadyReader(field);
    field.wires().openHonest(Opening.client(field.bus()).withReceiveBuffer(64 * 1024), reader);
    while (!reader.begun && !field.over()) {
      field.sleep(20);
    }
    return reader;
  }

  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    wire.sendMessage(ClientFrames.subscribe(1, TOPIC, Overflow.BLOCK));
  }

  @Override
  public boolean reads() {
    return true;
  }

  @Override
  public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
    if (type == TypeCode.CONFIRM.code()) {
      wire.readAt(READ_PER_SECOND);
      field.wires().openHonest(Opening.client(field.bus()), new Bursts());
    } else if (type == TypeCode.DELIVER.code()) {
      received.incrementAndGet();
    }
  }

  @Override
  public void closed(AttackWire wire, int code) {
    closeCode = code;
  }

  /** Waits a moment for what is on its way, and notes what became of it. */
  void judge() throws InterruptedException {
    long sent = published.get();
    for (int i = 0; i < 100 && received.get() < sent && closeCode == 0; i++) {
      Thread.sleep(50);
    }
    field
        .tally()
        .check(
            "the steady reader stays connected",
            closeCode == 0 && publisherCode == 0,
            closeCode == 0 && publisherCode == 0
                ? "connected"
                : "closed with " + closeCode + ", its publisher with " + publisherCode);
    field
        .tally()
        .check(
            "the steady reader gets everything",
            received.get() >= sent && sent > 0,
            received.get() + " of " + sent);
  }

  /** Publishes. */
  private final class Bursts implements AttackPeer {
    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      begun = true;
      burst(wire);
    }

    private void burst(AttackWire wire) {
      if (field.leftMillis() < EVERY_MILLIS) {
        return;
      }
      for (int i = 0; i < BURST && wire.isWritable(); i++) {
        wire.sendMessage(
            ClientFrames.publish(TOPIC, published.incrementAndGet(), false, 1, payload));
      }
      wire.after(EVERY_MILLIS, () -> burst(wire));
    }

    @Override
    public void closed(AttackWire wire, int code) {
      publisherCode = code;
    }
  }
}
