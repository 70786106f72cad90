package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.LongStream;

/** Services whose names have one hash, and calls of others of that hash, which nobody serves. */
record CollideServices(String name, boolean collides) implements Attack {
  private static final int MIN_SECONDS = 30;
  private static final int TIMEOUT_MILLIS = 1_000;
  private static final int FIRST_UNSERVED = 40_000;
  private static final int UNSERVED = 20_000;
  private static final byte[] NOTHING = {};

  @Override
  public String what() {
    return "20 connections with 1,000 services each"
        + (collides ? ", all names of one hash," : "")
        + " and 20 that call others";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 20L, "each", 1_000L, "callers", 20L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    long begin = System.nanoTime();
    // The second half of the time is for those that call.
    long half = field.leftMillis() / 2;
    int services = field.knob("conns") * field.knob("each");
    new HostileCrowd(
        field,
        field.knob("conns"),
        i ->
            new HostileServiceClient(
                field.tally(),
                HostileServiceClient.numbered(
                    field.knob("each"),
                    n ->
                        ClientCalls.register(
                            n, OneHash.name(i * field.knob("each") + n - 1, collides), 1))));
    while (field.tally().get("confirmed") < services && field.leftMillis() > half) {
      field.sleep(10);
    }
    field.tally().add("registeringMillis", (System.nanoTime() - begin) / 1_000_000);
    new HostileCrowd(
        field,
        field.knob("callers"),
        i ->
            new HostileServiceClient(
                field.tally(),
                LongStream.iterate(1, n -> n + 1)
                    .mapToObj(
                        n ->
                            ClientCalls.request(
                                n,
                                OneHash.name(FIRST_UNSERVED + (int) (n % UNSERVED), collides),
                                TIMEOUT_MILLIS,
                                0,
                                NOTHING))));
    field.untilOver();
  }
}
