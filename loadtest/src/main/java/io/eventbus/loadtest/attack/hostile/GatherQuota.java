package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.Stream;

/** A request to all members, of which each is a call, by an account that may have few of them. */
record GatherQuota() implements Attack {
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final int SETTLE_MILLIS = 2_000;
  private static final int MIN_SECONDS = 10;

  @Override
  public String name() {
    return "gather-quota";
  }

  @Override
  public String what() {
    return "a request to all of 30 members by an account that may have 5 calls in flight";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("members", 30L, "calls", 5L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .lasting(MIN_SECONDS)
        .withAccounts("[account hostile]\nquota calls = " + knobs.get("calls") + "\n");
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd.members(field, field.knob("members"), 1, n -> "all");
    new HostileCrowd(
        field,
        1,
        i ->
            new HostileServiceClient(
                field.tally(), Stream.of(ClientCalls.gather(1, "all", TIMEOUT_MILLIS))));
    field.sleep(SETTLE_MILLIS);
    long invoked = field.tally().get("invoked");
    field
        .tally()
        .check(
            "no more calls than the quota allows",
            invoked <= field.knob("calls"),
            invoked + " in flight");
  }
}
