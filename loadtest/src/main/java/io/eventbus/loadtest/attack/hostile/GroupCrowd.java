package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Subscribers of everything in as many groups as each may: a choice for each group and event. */
record GroupCrowd() implements Attack {
  private static final int GROUPS_OF_A_CONNECTION = 32;

  @Override
  public String name() {
    return "group-crowd";
  }

  @Override
  public String what() {
    return "1,000 connections, each subscribes to > in 32 groups of its own";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 1_000L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            i -> new HostileSubscriber(field.tally(), subscribes(i), HostileSubscriber.ALL, false))
        .hold();
  }

  private static List<byte[]> subscribes(int connection) {
    return IntStream.range(0, GROUPS_OF_A_CONNECTION)
        .mapToObj(
            g ->
                ClientFrames.subscribe(
                    g, ">", "group-" + connection + "-" + g, Overflow.DROP_OLDEST))
        .toList();
  }
}
