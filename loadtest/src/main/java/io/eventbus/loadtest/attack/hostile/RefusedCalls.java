package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.Map;
import java.util.stream.LongStream;

/** Calls of services that nobody serves, without end. */
record RefusedCalls() implements Attack {
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "refused-calls";
  }

  @Override
  public String what() {
    return "300 connections that call a service that nobody serves";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 300L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            i ->
                new HostileServiceClient(
                    field.tally(),
                    LongStream.iterate(1, n -> n + 1)
                        .mapToObj(n -> ClientCalls.request(n, "nobody", 1_000, 0, NOTHING))))
        .hold();
  }
}
