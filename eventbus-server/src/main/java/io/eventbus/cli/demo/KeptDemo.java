package io.eventbus.cli.demo;

import io.eventbus.cli.console.BusLauncher.RunningBus;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Bus, a replay that does not end, and pages that show it, until Ctrl-C. For one thread.
 *
 * <p>The bus stores the last events, so that a page begins with the latest value of each flight: it
 * reads them from the first one on, and what a later one of the same flight says replaces the
 * earlier. A journal that keeps the last event of each topic would not do: flights share the topics
 * of their airport, and the last event of a flight does not tell when it was to depart.
 */
final class KeptDemo {
  /**
   * Journal of the flights. The sample has up to 2,844 events in 24 hours, and its longest flight
   * takes 11: each flight in the air is in these, at any pace of the replay.
   */
  private static final String JOURNAL = "flights flights.> max-events=4000";

  private static final long TIMEOUT_SECONDS = 10;

  private final CliContext context;
  private final List<Flight> flights;
  private final Duration duration;

  KeptDemo(CliContext context, List<Flight> flights, Duration duration) {
    this.context = context;
    this.flights = flights;
    this.duration = duration;
  }

  /**
   * Runs until the process is told to end, or the thread is interrupted.
   *
   * @throws CliFailure if something fails
   */
  void run(Function<Map<String, String>, RunningBus> start) {
    Thread runner = Thread.currentThread();
    CountDownLatch ended = new CountDownLatch(1);
    StopHook hook =
        new StopHook(
            () -> {
              runner.interrupt();
              await(ended);
            });
    try (DemoPages pages = pages();
        DemoDirectory directory = DemoDirectory.create();
        RunningBus bus = start.apply(settings(pages, directory));
        DemoReplay replay = new DemoReplay(bus.uri(), flights, duration)) {
      pages.serve(bus.uri(), new DemoClock(flights, duration, 0).pace());
      tell(pages, bus);
      replay.run();
    } catch (InterruptedException e) {
      // The way in which it ends; what was opened is closed by now.
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
      hook.close();
    }
  }

  private static Map<String, String> settings(DemoPages pages, DemoDirectory directory) {
    return Map.of(
        "listen.allowed-origins",
        String.join(",", pages.origins()),
        "durable.directory",
        directory.path().toString(),
        "durable.journals",
        JOURNAL);
  }

  private void tell(DemoPages pages, RunningBus bus) {
    context
        .out()
        .line(
            ("Bus on %s, administration on http://127.0.0.1:%d%n"
                    + "Replaying %,d flight events in %s, again and again%n"
                    + "Departures board: %s%n"
                    + "Map of flights:   %s%n"
                    + "Ctrl-C ends it")
                .formatted(
                    bus.uri(),
                    bus.adminPort(),
                    flights.size(),
                    duration.toString().substring(2).toLowerCase(Locale.ROOT),
                    pages.url("board.html"),
                    pages.url("map.html")));
  }

  private static DemoPages pages() {
    try {
      return DemoPages.start();
    } catch (IOException e) {
      throw new CliFailure(
          ExitCode.FAILED, "The pages cannot be served: " + Failures.describe(e), e);
    }
  }

  private static void await(CountDownLatch ended) {
    try {
      // Longer than that the JVM need not wait: it ends all there is.
      boolean unused = ended.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
