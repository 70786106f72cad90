package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.LongStream;

/** Requests to all members of a service of very many, which are refused. */
record GatherRefused() implements Attack {
  private static final int TIMEOUT_MILLIS = 600_000;

  @Override
  public String name() {
    return "gather-refused";
  }

  @Override
  public String what() {
    return "requests to all of 6,000 members, of which a connection may have one at a time";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("members", 6_000L, "conns", 4L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd.members(field, field.knob("members"), 1, n -> "crowded");
    field.tally().add("began", 1);
    new HostileCrowd(
        field,
        field.knob("conns"),
        i ->
            new HostileServiceClient(
                field.tally(),
                LongStream.iterate(1, n -> n + 1)
                    .mapToObj(n -> ClientCalls.gather(n, "crowded", TIMEOUT_MILLIS))));
    field.untilOver();
  }
}
