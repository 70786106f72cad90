package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Few connections with the most expensive filters there are; newcomers want one cheap one. */
record SubBudget() implements Attack {
  private static final int MIN_SECONDS = 10;
  private static final int EACH_CONNECTION = 10_000;
  private static final int TOKENS = 16;
  private static final long TOKEN = 10_000_000_000_000L;
  private static final int NEWCOMER_MILLIS = 300;

  @Override
  public String name() {
    return "sub-budget";
  }

  @Override
  public String what() {
    return "connections with 10,000 filters of 16 tokens each; newcomers want to subscribe";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", Math.max(3, 3 * heapMegabytes / 256));
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    Swarm swarm =
        new Swarm(
                field,
                Opening.client(field.bus()),
                field.knob("conns"),
                i -> new HostileSubscriber(field.tally(), filters(i), HostileSubscriber.ALL, false))
            .fill();
    int newcomers = 0;
    while (!field.over()) {
      field
          .wires()
          .openHonest(
              Opening.client(field.bus())
                  .withHello(ClientFrames.hello("newcomer", field.bus().token(), null)),
              new Newcomer(field, "newcomer." + newcomers++, Overflow.BLOCK));
      swarm.fill();
      field.sleep(NEWCOMER_MILLIS);
    }
    long good = field.tally().get("newcomersSubscribed");
    long bad = field.tally().get("newcomersRefused");
    field
        .tally()
        .check("newcomers may subscribe", bad == 0 && good > 0, good + " may, " + bad + " may not");
  }

  private static List<byte[]> filters(int connection) {
    List<byte[]> subscribes = new ArrayList<>();
    for (int i = 0; i < EACH_CONNECTION; i++) {
      StringBuilder filter = new StringBuilder();
      for (int t = 0; t < TOKENS - 1; t++) {
        // A filter without a wildcard is cheap, however long it is. Fourteen or fifteen characters
        // each, for the most that a filter may have.
        filter.append(t == 0 ? "" : ".").append(TOKEN * (t + 1) + connection * 10_000L + i);
      }
      subscribes.add(ClientFrames.subscribe(i + 1, filter + ".*", Overflow.DROP_OLDEST));
    }
    return subscribes;
  }
}
