package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.Map;

/** A crowd each of which has as many waiting calls, or services, as it gets. */
record SmallCrowd(String name, boolean registers) implements Attack {
  private static final int WAIT_MILLIS = 600_000;
  private static final int EACH = 1_000;
  private static final byte[] NOTHING = {};

  @Override
  public String what() {
    return registers
        ? "500 connections with as many services as they get; newcomers want to serve"
        : "500 connections with as many calls that wait for services as they get";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 500L * Math.max(1, heapMegabytes / 256), "each", (long) EACH);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd crowd =
        new HostileCrowd(
            field,
            field.knob("conns"),
            i ->
                new HostileServiceClient(
                    field.tally(),
                    HostileServiceClient.numbered(
                        field.knob("each"),
                        n ->
                            registers
                                ? ClientCalls.register(n, "crowd." + i + "." + n, 1)
                                : ClientCalls.request(
                                    n, "w" + i + "." + n, WAIT_MILLIS, WAIT_MILLIS, NOTHING))));
    if (!registers) {
      field.untilOver();
      return;
    }
    while (!field.over()) {
      long had = field.tally().get("newcomersServe") + field.tally().get("newcomersRefused");
      field
          .wires()
          .openHonest(Opening.client(field.bus()), new NewMember(field.tally(), "new." + had));
      field.sleep(500);
    }
    crowd.reset();
    long good = field.tally().get("newcomersServe");
    long bad = field.tally().get("newcomersRefused");
    field
        .tally()
        .check("newcomers may serve", bad == 0 && good > 0, good + " may, " + bad + " may not");
  }
}
