package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.LongStream;

/** Requests to all members of a service, each cancelled at once. */
record GatherFlood() implements Attack {
  private static final int TIMEOUT_MILLIS = 60_000;

  @Override
  public String name() {
    return "gather-flood";
  }

  @Override
  public String what() {
    return "requests to all of 1,500 members, each cancelled at once";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("members", 1_500L, "conns", 4L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd.members(field, field.knob("members"), 1, n -> "crowded");
    new HostileCrowd(
        field,
        field.knob("conns"),
        i ->
            new HostileServiceClient(
                field.tally(),
                LongStream.iterate(2, n -> n + 1)
                    .mapToObj(
                        n ->
                            n % 2 == 0
                                ? ClientCalls.gather(n / 2, "crowded", TIMEOUT_MILLIS)
                                : ClientCalls.cancel(n / 2))));
    field.untilOver();
  }
}
