package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.switching.Client;
import java.time.Duration;
import java.util.List;

/**
 * Moves one client from bus to bus and back, again and again, while events flow: the subscriber, or
 * the publisher whose events the subscriber waits for. Buses and SDK leave a client alone that has
 * moved {@value #MAX_MOVES} times within a minute; a new one then takes its place.
 */
final class OneClient implements Script {
  private static final int MAX_MOVES = 8;
  private static final Duration MOVE_TIMEOUT = Duration.ofSeconds(20);

  /** As long as a move with what comes after it usually takes, and no shorter than that. */
  private static final Duration STILL = Duration.ofMillis(60);

  /** Until the old connection is closed and what was held has been given out. */
  private static final Duration SETTLE = Duration.ofMillis(30);

  private final boolean publisher;

  OneClient(boolean publisher) {
    this.publisher = publisher;
  }

  @Override
  public String name() {
    return publisher ? "one-publisher" : "one-subscriber";
  }

  @Override
  public String description(SwitchPlan plan) {
    return "One "
        + (publisher ? "publisher" : "subscriber")
        + " is sent to another bus and back, "
        + plan.moves()
        + " times, at "
        + plan.rate()
        + " events/s";
  }

  @Override
  public int buses() {
    return 2;
  }

  @Override
  public void play(Stage stage) throws InterruptedException {
    SwitchPlan plan = stage.plan();
    MovingCrowd crowd = stage.crowd();
    crowd.begin(1, 1, client -> 0, plan.rate(), false);
    stage.tell("warm-up, %d s and %d moves", plan.warmUp().toSeconds(), plan.warmUpMoves());
    crowd.flow(plan.warmUp());
    int moves = plan.warmUpMoves() + plan.moves();
    for (int i = 0; i < moves; i++) {
      if (i > 0 && i % MAX_MOVES == 0) {
        replace(crowd);
      }
      boolean counts = i >= plan.warmUpMoves();
      crowd.window(counts ? MoveLatencies.Phase.BEFORE : MoveLatencies.Phase.NONE);
      crowd.flow(STILL);
      List<Double> still = crowd.pauses();
      crowd.window(counts ? MoveLatencies.Phase.DURING : MoveLatencies.Phase.NONE);
      double millis = move(stage);
      crowd.flow(SETTLE);
      double pause = crowd.pauses().get(0);
      crowd.window(counts ? MoveLatencies.Phase.AFTER : MoveLatencies.Phase.NONE);
      crowd.flow(STILL);
      if (counts) {
        stage.moved(1);
        stage.still(still);
        stage.arrived(millis);
        stage.paused(pause);
      }
      if ((i + 1) % 10 == 0 || i + 1 == moves) {
        stage.tell(
            "%d of %d moves, the last in %.1f ms, pause %.1f ms", i + 1, moves, millis, pause);
      }
    }
  }

  private void replace(MovingCrowd crowd) {
    if (publisher) {
      crowd.replacePublisher();
    } else {
      crowd.replaceSubscriber();
    }
  }

  private Client client(MovingCrowd crowd) {
    return publisher ? crowd.sources().get(0).client() : crowd.members().get(0).client();
  }

  private double move(Stage stage) {
    Client client = client(stage.crowd());
    int from = client.bus();
    long arrivals = client.arrivals();
    int stayed = client.stayed().size();
    long asked = System.nanoTime();
    stage.buses().move(client.name(), from, 1 - from);
    stage
        .crowd()
        .await(
            () -> client.arrivals() > arrivals || client.stayed().size() > stayed,
            MOVE_TIMEOUT,
            () -> client.name() + " has not moved");
    if (client.arrivals() == arrivals || client.bus() != 1 - from) {
      throw new DriverException(
          client.name()
              + " is at bus "
              + client.bus()
              + " (expected: "
              + (1 - from)
              + "): "
              + client.stayed());
    }
    return Stage.millis(client.arrivedAt() - asked);
  }
}
