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
import java.util.Map;

/** A subscriber of everything under BLOCK that reads nothing and goes, and comes again as new. */
record BlockAgain() implements Attack {
  private static final int MIN_SECONDS = 30;
  private static final int BULK = 4_000_000;
  private static final int RECEIVE_BUFFER = 64 * 1024;

  @Override
  public String name() {
    return "block-again";
  }

  @Override
  public String what() {
    return "a new subscriber of > under BLOCK every two seconds, which reads nothing for seven";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("every", 2_000L, "life", 7_000L, "bulk", (long) BULK);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .lasting(MIN_SECONDS)
        .withBulk(Math.toIntExact(knobs.getOrDefault("bulk", 0L)))
        .withBlockHold();
  }

  @Override
  public void run(Field field) throws InterruptedException {
    Opening opening = Opening.client(field.bus()).withReceiveBuffer(RECEIVE_BUFFER);
    while (!field.over()) {
      field.wires().open(opening, new Deaf(field.knob("life")));
      field.sleep(field.knob("every"));
    }
  }

  private record Deaf(int life) implements AttackPeer {
    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      wire.stopReading();
      wire.sendMessage(ClientFrames.subscribe(1, ">", Overflow.BLOCK));
      wire.after(life, wire::end);
    }
  }
}
