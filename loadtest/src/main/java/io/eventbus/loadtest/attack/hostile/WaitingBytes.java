package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.Map;

/**
 * Large calls that wait for a service that nobody serves, beside a reader with much in its queue.
 */
record WaitingBytes() implements Attack {
  private static final int MIN_SECONDS = 15;
  private static final int WAIT_MILLIS = 600_000;

  @Override
  public String name() {
    return "waiting-bytes";
  }

  @Override
  public String what() {
    return "64 calls of 1 MB that wait for a service that nobody serves, beside a steady reader";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 16L, "each", 4L * Math.max(1, heapMegabytes / 256), "bytes", 1_040_000L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    byte[] payload = new byte[field.knob("bytes")];
    SteadyReader reader = SteadyReader.begin(field);
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            i ->
                new HostileServiceClient(
                    field.tally(),
                    HostileServiceClient.numbered(
                        field.knob("each"),
                        call ->
                            ClientCalls.request(
                                call, "nobody", WAIT_MILLIS, WAIT_MILLIS, payload))))
        .hold();
    reader.judge();
  }
}
