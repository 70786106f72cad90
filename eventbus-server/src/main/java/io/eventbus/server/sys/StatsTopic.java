package io.eventbus.server.sys;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.view.BusHealth;
import io.eventbus.server.view.BusStats;
import io.eventbus.server.view.BusSummary;
import io.eventbus.server.view.BusView;
import io.eventbus.server.view.Json;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/** Publishes the figures of a bus, those that its metrics are made of, each time that it is run. */
final class StatsTopic implements Runnable {
  private static final RateLimitedLog LOG =
      new RateLimitedLog(LoggerFactory.getLogger(StatsTopic.class));

  private final String bus;
  private final String topic;
  private final BusView view;
  private final Predicate<String> wanted;
  private final Publisher publisher;
  private final Clock clock;

  StatsTopic(String bus, BusView view, Predicate<String> wanted, Publisher publisher, Clock clock) {
    this.bus = bus;
    this.topic = SysTopics.topic(bus, "stats");
    this.view = view;
    this.wanted = wanted;
    this.publisher = publisher;
    this.clock = clock;
  }

  /** Published figures. */
  record Message(
      String bus,
      Instant at,
      String version,
      Instant startedAt,
      double uptimeSeconds,
      BusHealth.State state,
      BusStats stats) {}

  @Override
  public void run() {
    try {
      if (wanted.test(topic)) {
        publisher.publish(topic, Json.write(message()));
      }
    } catch (IOException | RuntimeException e) {
      // Otherwise it would not be run again.
      LOG.error("stats", e, "the bus's figures could not be published");
    }
  }

  private Message message() {
    BusSummary summary = view.summary();
    Instant now = clock.instant();
    return new Message(
        bus,
        now,
        summary.version(),
        summary.startedAt(),
        Duration.between(summary.startedAt(), now).toMillis() / 1e3,
        view.health().state(),
        view.stats());
  }
}
