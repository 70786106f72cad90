package io.eventbus.server.sys;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.view.Json;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/**
 * Publisher of the events on a bus, a bounded number a second; the next event counts those that
 * were left out. Any thread.
 */
final class EventsTopic implements Consumer<Advisory> {
  /** Maximum of events a second: a crowd that comes or goes must not cost more than its work. */
  static final int MAX_PER_SECOND = 100;

  private static final RateLimitedLog LOG =
      new RateLimitedLog(LoggerFactory.getLogger(EventsTopic.class));

  private final String bus;
  private final String topic;
  private final Predicate<String> wanted;
  private final Publisher publisher;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private long secondBegan;
  private int inSecond;
  private int ofClients;
  private long omitted;

  EventsTopic(
      String bus,
      Predicate<String> wanted,
      Publisher publisher,
      Clock clock,
      LongSupplier nanoTime) {
    this.bus = bus;
    this.topic = SysTopics.topic(bus, "events");
    this.wanted = wanted;
    this.publisher = publisher;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.secondBegan = nanoTime.getAsLong();
  }

  /**
   * Published event.
   *
   * @param omitted events that were left out since the one before
   */
  record Message(String bus, Instant at, String type, long omitted, Advisory detail) {}

  @Override
  public void accept(Advisory advisory) {
    if (wanted.test(topic)) {
      publish(advisory);
    }
  }

  /**
   * Publishes one event at a time, so that the next event counts those that were left out. Loops
   * meet here for microseconds, and beyond the rate for less.
   */
  private synchronized void publish(Advisory advisory) {
    if (!isWithinRate(advisory)) {
      omitted++;
      return;
    }
    try {
      publisher.publish(
          topic, Json.write(new Message(bus, clock.instant(), advisory.type(), omitted, advisory)));
      omitted = 0;
    } catch (IOException e) {
      LOG.error("events", e, "what happened could not be published");
    }
  }

  /**
   * Returns whether the rate allows the event; events that clients cause as often as they like
   * leave half of it to all others. Quotas have a bound of their own.
   */
  private boolean isWithinRate(Advisory advisory) {
    long now = nanoTime.getAsLong();
    if (now - secondBegan >= TimeUnit.SECONDS.toNanos(1)) {
      secondBegan = now;
      inSecond = 0;
      ofClients = 0;
    }
    boolean ofClient = advisory.causedByClient() && !(advisory instanceof Advisory.QuotaReached);
    if (inSecond >= MAX_PER_SECOND || (ofClient && ofClients >= MAX_PER_SECOND / 2)) {
      return false;
    }
    inSecond++;
    ofClients += ofClient ? 1 : 0;
    return true;
  }
}
