package io.eventbus.cli.demo;

import io.eventbus.cli.client.ConfirmationReport;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Publishes one airport's flights at their times, on a thread of its own. */
final class DemoPublisher {
  private final String name;
  private final List<Flight> flights;
  private final EventBusClient client;
  private final AtomicLong published = new AtomicLong();
  private final ConfirmationReport confirmations = new ConfirmationReport();
  private final BiConsumer<Flight, Published> confirmed;
  private final Thread thread;
  private volatile @Nullable Throwable failure;
  private volatile boolean stopped;

  DemoPublisher(
      String name,
      List<Flight> all,
      Predicate<Flight> mine,
      EventBusClient client,
      DemoClock clock) {
    this(name, all, mine, client, clock, (flight, published) -> {});
  }

  /** Creates a publisher with a listener for each confirmation, which any thread may call. */
  DemoPublisher(
      String name,
      List<Flight> all,
      Predicate<Flight> mine,
      EventBusClient client,
      DemoClock clock,
      BiConsumer<Flight, Published> confirmed) {
    this.name = name;
    this.confirmed = confirmed;
    this.flights = all.stream().filter(mine).toList();
    this.client = client;
    this.thread = new Thread(() -> run(clock), "demo-publisher-" + name);
    this.thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Stops publishing soon; does not wait for it. */
  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  /**
   * Waits until all is published and confirmed.
   *
   * @throws CliFailure if that fails or takes too long
   */
  void finish(Duration timeout) throws InterruptedException {
    thread.join(timeout.toMillis());
    check();
    if (thread.isAlive() || !confirmations.await(timeout)) {
      throw new CliFailure(
          ExitCode.FAILED, "publisher " + name + ": not done within " + timeout.toSeconds() + " s");
    }
  }

  /**
   * Checks that no event has failed.
   *
   * @throws CliFailure if one has
   */
  void check() {
    Throwable cause = failure != null ? failure : confirmations.firstFailure();
    if (cause != null) {
      throw new CliFailure(
          ExitCode.FAILED, "publisher " + name + ": " + Failures.describe(cause), cause);
    }
  }

  String name() {
    return name;
  }

  long published() {
    return published.get();
  }

  long expected() {
    return flights.size();
  }

  long confirmed() {
    return confirmations.confirmed();
  }

  private void run(DemoClock clock) {
    try {
      for (Flight flight : flights) {
        long due = clock.due(flight);
        for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
          if (stopped) {
            return;
          }
          LockSupport.parkNanos(this, wait);
        }
        Event event =
            Event.builder(flight.payload())
                .key(flight.key())
                .header(DemoTally.LINE_HEADER, Integer.toString(flight.line()))
                .build();
        published.incrementAndGet();
        CompletionStage<Published> stage = client.publish(flight.topic(), event);
        // Before it counts as confirmed: what is counted is told.
        confirmations.add(
            stage.thenApply(
                published -> {
                  confirmed.accept(flight, published);
                  return published;
                }));
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }
}
