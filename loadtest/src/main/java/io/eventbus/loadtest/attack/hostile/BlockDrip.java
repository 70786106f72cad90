package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.List;
import java.util.Map;

/**
 * One subscriber of everything under BLOCK that hardly reads, and so holds every publisher.
 *
 * @param name of the attack
 * @param bytesPerSecond how fast it reads
 */
record BlockDrip(String name, long bytesPerSecond) implements Attack {
  private static final int BULK = 20_000_000;
  private static final int LEAST_SECONDS = 10;

  @Override
  public String what() {
    return "a subscriber of > under BLOCK that reads " + bytesPerSecond + " B/s";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 1L, "drip", bytesPerSecond, "bulk", (long) BULK);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .lasting(LEAST_SECONDS)
        .withBulk(Math.toIntExact(knobs.getOrDefault("bulk", 0L)));
  }

  @Override
  public void run(Field field) throws InterruptedException {
    byte[] subscribe = ClientFrames.subscribe(1, ">", Overflow.BLOCK);
    int drip = field.knob("drip");
    new Swarm(
            field,
            Opening.client(field.bus()).withReceiveBuffer(64 * 1024),
            field.knob("conns"),
            i -> new Subscriber(field.tally(), List.of(subscribe), drip, false))
        .hold();
  }
}
