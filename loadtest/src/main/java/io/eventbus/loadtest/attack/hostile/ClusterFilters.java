package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.Map;
import java.util.stream.IntStream;

/** Filters of clients of one bus, which every other bus of the cluster has to know. */
record ClusterFilters(String name, boolean collides, long conns) implements Attack {
  private static final int MIN_SECONDS = 25;
  private static final int EACH = 10_000;
  private static final int NEWCOMER_MILLIS = 300;
  private static final int SETTLE_MILLIS = 5_000;

  @Override
  public String what() {
    return conns
        + " connections with 10,000 filters each"
        + (collides ? " of one hash" : "")
        + " at one bus of two; the honest are at the other, newcomers at the same";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS).withCluster();
  }

  @Override
  public void run(Field field) throws InterruptedException {
    new HostileCrowd(
        field,
        field.knob("conns"),
        i ->
            new HostileServiceClient(
                field.tally(),
                IntStream.range(0, EACH)
                    .mapToObj(
                        n ->
                            ClientFrames.subscribe(
                                n + 1,
                                OneHash.name(i * EACH + n, collides),
                                Overflow.DROP_OLDEST))));
    field.sleep(SETTLE_MILLIS);
    int newcomers = 0;
    while (!field.over()) {
      field
          .wires()
          .openHonest(
              Opening.client(field.bus())
                  .withHello(ClientFrames.hello("newcomer", field.bus().token(), null)),
              new Newcomer(field, "newcomer." + newcomers++, Overflow.DROP_OLDEST));
      field.sleep(NEWCOMER_MILLIS);
    }
    long good = field.tally().get("newcomersSubscribed");
    long bad = field.tally().get("newcomersRefused");
    field
        .tally()
        .check("newcomers may subscribe", bad == 0 && good > 0, good + " may, " + bad + " may not");
  }
}
