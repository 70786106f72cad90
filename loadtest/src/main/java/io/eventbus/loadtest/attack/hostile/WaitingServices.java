package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.Map;

/** Calls that wait for services that nobody serves, each for another one. */
record WaitingServices() implements Attack {
  private static final int WAIT_MILLIS = 600_000;
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "waiting-services";
  }

  @Override
  public String what() {
    return "4,096 calls a connection that wait, each for another service that nobody serves";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 24L * Math.max(1, heapMegabytes / 256));
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
                    HostileServiceClient.numbered(
                        HostileServiceClient.MAX_CALLS,
                        call ->
                            ClientCalls.request(
                                call, "w" + i + "." + call, WAIT_MILLIS, WAIT_MILLIS, NOTHING))))
        .hold();
  }
}
