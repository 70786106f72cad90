package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.schema.Overflow;
import java.util.Map;

/**
 * Connections with as many subscriptions as they may have, reset at one moment, again and again.
 */
record SubscribersReset(String name, boolean cluster) implements Attack {
  private static final int HOLD_MILLIS = 1_000;

  @Override
  public String what() {
    return "16 connections with 8,000 filters each that are reset at one moment"
        + (cluster ? ", at one bus of two; the honest are at the same" : "");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 16L, "each", 8_000L, "wild", 0L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return cluster ? Needs.NOTHING.withNeighbour() : Needs.NOTHING;
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int each = field.knob("each");
    String end = field.knob("wild") > 0 ? ".*" : "";
    while (!field.over()) {
      long before = answered(field);
      HostileCrowd crowd =
          new HostileCrowd(
              field,
              field.knob("conns"),
              i ->
                  new HostileServiceClient(
                      field.tally(),
                      HostileServiceClient.numbered(
                          each,
                          n ->
                              ClientFrames.subscribe(
                                  n, "r" + i + "x" + n + end, Overflow.DROP_OLDEST))));
      while (!field.over() && answered(field) < before + (long) field.knob("conns") * each) {
        field.sleep(10);
      }
      field.sleep(HOLD_MILLIS);
      crowd.reset();
      field.tally().add("resets", 1);
      field.sleep(HOLD_MILLIS);
    }
  }

  private static long answered(Field field) {
    return field.tally().get("confirmed") + field.tally().get("refused");
  }
}
