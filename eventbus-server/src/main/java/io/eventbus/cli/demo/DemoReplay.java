package io.eventbus.cli.demo;

import io.eventbus.cli.client.ConfirmationReport;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Replay of flights at their times, again from the first one after the last, for pages and programs
 * that show them. For one thread.
 */
final class DemoReplay implements AutoCloseable {
  /** Header with the time of the flight in the data, in milliseconds since the epoch. */
  static final String TIME_HEADER = "time";

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  private final List<Flight> flights;
  private final Duration duration;
  private final EventBusClient client;
  private final ConfirmationReport confirmations = new ConfirmationReport();

  /**
   * Connects.
   *
   * @throws CliFailure if it cannot
   */
  DemoReplay(URI bus, List<Flight> flights, Duration duration) {
    this.flights = flights;
    this.duration = duration;
    try {
      this.client =
          EventBusClient.builder()
              .url(bus)
              .name("flights")
              .connectTimeout(CONNECT_TIMEOUT)
              .connect();
    } catch (EventBusException e) {
      throw new CliFailure(
          ExitCode.NOT_CONNECTED, "cannot connect to " + bus + ": " + Failures.describe(e), e);
    }
  }

  /**
   * Publishes until the thread is interrupted.
   *
   * @throws CliFailure if an event is not confirmed
   * @throws InterruptedException when it is to end
   */
  void run() throws InterruptedException {
    while (true) {
      round();
    }
  }

  private void round() throws InterruptedException {
    DemoClock clock = new DemoClock(flights, duration, System.nanoTime());
    for (Flight flight : flights) {
      TimeUnit.NANOSECONDS.sleep(clock.due(flight) - System.nanoTime());
      Event event =
          Event.builder(flight.payload())
              .key(flight.key())
              .header(TIME_HEADER, Long.toString(flight.millis()))
              .build();
      confirmations.add(client.publish(flight.topic(), event));
      Throwable failure = confirmations.firstFailure();
      if (failure != null) {
        throw new CliFailure(
            ExitCode.FAILED, "the replay has ended: " + Failures.describe(failure), failure);
      }
    }
  }

  @Override
  public void close() {
    client.close(Duration.ofSeconds(1));
  }
}
