package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.Map;

/** More connections than the bus's process has descriptors, again and again. */
record ConnFlood() implements Attack {
  private static final int MIN_SECONDS = 15;

  @Override
  public String name() {
    return "conn-flood";
  }

  @Override
  public String what() {
    return "4,000 welcomed connections against 2,000 descriptors, opened again when closed";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 4_000L, "descriptors", 2_000L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .lasting(MIN_SECONDS)
        .withDescriptors(Math.toIntExact(knobs.getOrDefault("descriptors", 2_000L)));
  }

  @Override
  public void run(Field field) throws InterruptedException {
    new Swarm(field, Opening.client(field.bus()), field.knob("conns"), i -> new AttackPeer() {})
        .hold();
  }
}
