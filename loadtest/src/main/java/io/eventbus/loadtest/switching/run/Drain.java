package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.run.Spread;
import io.eventbus.loadtest.switching.Client;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** All clients of a bus are sent away together, to the other bus, and then back. */
final class Drain implements Script {
  private static final int WARM_UP_ROUNDS = 2;
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(90);
  private static final Duration STILL = Duration.ofSeconds(1);

  private final String name;
  private final int publishers;
  private final int subscribers;
  private final int perSecond;

  /** Creates it. */
  Drain(String name, int publishers, int subscribers, int perSecond) {
    this.name = name;
    this.publishers = publishers;
    this.subscribers = subscribers;
    this.perSecond = perSecond;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description(SwitchPlan plan) {
    return String.format(
        Locale.ROOT,
        "A bus is drained of %d publishers and %d subscribers, each of which gets %d events/s, %d"
            + " times",
        publishers,
        subscribers,
        perSecond,
        plan.rounds());
  }

  @Override
  public int buses() {
    return 2;
  }

  @Override
  public void play(Stage stage) throws InterruptedException {
    SwitchPlan plan = stage.plan();
    MovingCrowd crowd = stage.crowd();
    crowd.begin(publishers, subscribers, client -> 0, perSecond, false);
    stage.tell("%d clients are connected; warm-up", publishers + subscribers);
    crowd.flow(plan.warmUp());
    int warmUp = plan.warmUpMoves() == 0 ? 0 : WARM_UP_ROUNDS;
    for (int round = 0; round < warmUp + plan.rounds(); round++) {
      round(stage, round % 2, round >= warmUp);
    }
  }

  private void round(Stage stage, int from, boolean counts) {
    MovingCrowd crowd = stage.crowd();
    crowd.window(counts ? MoveLatencies.Phase.BEFORE : MoveLatencies.Phase.NONE);
    crowd.flow(STILL);
    List<Double> still = crowd.pauses();
    crowd.window(counts ? MoveLatencies.Phase.DURING : MoveLatencies.Phase.NONE);
    List<Client> clients = crowd.clients();
    long asked = System.nanoTime();
    stage.buses().drain(from, true);
    crowd.await(
        () -> clients.stream().allMatch(client -> client.bus() == 1 - from),
        DRAIN_TIMEOUT,
        () -> clients.stream().filter(c -> c.bus() != 1 - from).count() + " clients have not gone");
    long last = clients.stream().mapToLong(Client::arrivedAt).max().orElse(asked);
    // Until an event is due for each, and a moment.
    crowd.flow(Duration.ofNanos(crowd.intervalNanos() + TimeUnit.MILLISECONDS.toNanos(100)));
    List<Double> pauses = crowd.pauses();
    crowd.window(counts ? MoveLatencies.Phase.AFTER : MoveLatencies.Phase.NONE);
    crowd.flow(STILL);
    stage.buses().drain(from, false);
    double millis = Stage.millis(last - asked);
    stage.tell(
        "%d clients went in %.0f ms, the longest pause was %.1f ms%s",
        clients.size(), millis, Spread.of(pauses).at(100), counts ? "" : " (warm-up)");
    if (counts) {
      stage.moved(clients.size());
      stage.round(millis);
      stage.still(still);
      pauses.forEach(stage::paused);
    }
  }
}
