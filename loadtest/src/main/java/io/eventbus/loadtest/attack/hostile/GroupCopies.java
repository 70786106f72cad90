package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.List;
import java.util.Map;

/**
 * Many subscribers with a group each, and large events for all of them: no malice, only many
 * services.
 *
 * @param events how many are published, one after the other
 */
record GroupCopies(String name, long groups, long events, boolean all) implements Attack {
  /** Longest time; it ends earlier when all have got everything. */
  private static final int MIN_SECONDS = 30;

  private static final int PAYLOAD = 1_000_000;
  private static final int SETTLE_MILLIS = 30_000;

  @Override
  public String what() {
    return groups + " groups, an event of 1 MB for each" + (all ? ": all have to get it" : "");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("groups", groups, "events", events);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int count = field.knob("groups");
    Swarm swarm =
        new Swarm(
                field,
                Opening.client(field.bus()),
                count,
                i ->
                    new HostileSubscriber(
                        field.tally(),
                        List.of(ClientFrames.subscribe(1, "copies.>", "group-" + i)),
                        HostileSubscriber.ALL,
                        true))
            .fill();
    swarm.awaitWelcomed(count, SETTLE_MILLIS);
    await(field, "subscribed", count);
    field
        .tally()
        .check(
            "all groups subscribed",
            field.tally().get("subscribed") == count,
            field.tally().get("subscribed") + " of " + count);
    HostileSender sender = HostileSender.connect(field);
    if (sender == null) {
      field.tally().check("the publisher connects", false, "it does not");
      return;
    }
    byte[] payload = new byte[PAYLOAD];
    int events = field.knob("events");
    for (int i = 1; i <= events; i++) {
      sender.send(ClientFrames.publish("copies.all", i, true, 1, payload));
      await(field, "delivered", (long) count * i);
    }
    boolean died = swarm.alive() == 0;
    field
        .tally()
        .check(
            "the publisher stays connected",
            sender.closeCode() == 0 && !died,
            sender.closeCode() == 0 ? "connected" : "closed with " + sender.closeCode());
    if (all) {
      long delivered = field.tally().get("delivered");
      field
          .tally()
          .check(
              "every group gets every event",
              delivered == (long) count * events,
              delivered + " of " + (long) count * events);
    }
  }

  private static void await(Field field, String figure, long min) throws InterruptedException {
    while (!field.over() && field.tally().get(figure) < min) {
      field.sleep(20);
    }
  }
}
