package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;

/** Members of very many services that come, are called, and leave, again and again. */
record ServicesCrowd() implements Attack {
  private static final int MIN_SECONDS = 20;
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final int EACH_CALLER = 3_000;
  private static final int PAUSE_MILLIS = 500;
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "services-crowd";
  }

  @Override
  public String what() {
    return "60 connections with 1,000 services each that come, are called, and leave";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 60L, "each", 1_000L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int services = field.knob("conns") * field.knob("each");
    while (!field.over()) {
      HostileCrowd members =
          HostileCrowd.members(field, field.knob("conns"), field.knob("each"), n -> "crowd." + n);
      long before = field.tally().get("frames");
      // Twice the callers: each service is called from more than one event loop.
      int callers = 2 * ((services + EACH_CALLER - 1) / EACH_CALLER);
      HostileCrowd calling =
          new HostileCrowd(
              field,
              callers,
              i ->
                  new HostileServiceClient(
                      field.tally(),
                      HostileServiceClient.numbered(
                          EACH_CALLER,
                          call ->
                              ClientCalls.request(
                                  call,
                                  "crowd." + (i * (long) EACH_CALLER + call) % services,
                                  TIMEOUT_MILLIS,
                                  0,
                                  NOTHING))));
      HostileServiceClient.await(field, "frames", before + (long) callers * EACH_CALLER);
      field.sleep(PAUSE_MILLIS);
      members.reset();
      field.sleep(PAUSE_MILLIS);
      calling.reset();
    }
  }
}
