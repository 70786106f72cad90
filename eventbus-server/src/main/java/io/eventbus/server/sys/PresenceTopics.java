package io.eventbus.server.sys;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.protocol.ServiceName;
import io.eventbus.server.call.Presence;
import io.eventbus.server.view.Json;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/**
 * Publisher of joins and leaves of services' members, a bounded number a second; the next event
 * counts those that were left out. Called under the lock of {@link Presence}.
 */
final class PresenceTopics implements Consumer<Presence.PresenceEvent> {
  /** Maximum of events a second: a crowd that comes or goes must not cost more than its work. */
  static final int MAX_PER_SECOND = 1_000;

  private static final RateLimitedLog LOG =
      new RateLimitedLog(LoggerFactory.getLogger(PresenceTopics.class));

  private final String bus;
  private final Predicate<String> wanted;
  private final Publisher publisher;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private long secondBegan;
  private int inSecond;
  private long omitted;

  PresenceTopics(
      String bus,
      Predicate<String> wanted,
      Publisher publisher,
      Clock clock,
      LongSupplier nanoTime) {
    this.bus = bus;
    this.wanted = wanted;
    this.publisher = publisher;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.secondBegan = nanoTime.getAsLong();
  }

  /**
   * Published event.
   *
   * @param omitted events of this bus that were left out since the one before, of any service
   * @param concurrency calls that it works on at once; 0 for none
   */
  record Message(
      String bus,
      Instant at,
      String type,
      long omitted,
      String service,
      String member,
      String client,
      int concurrency,
      String version,
      Map<String, String> metadata) {}

  @Override
  public void accept(Presence.PresenceEvent told) {
    String topic = ServiceName.presenceTopic(told.service());
    if (!wanted.test(topic)) {
      return;
    }
    long now = nanoTime.getAsLong();
    if (now - secondBegan >= TimeUnit.SECONDS.toNanos(1)) {
      secondBegan = now;
      inSecond = 0;
    }
    if (inSecond >= MAX_PER_SECOND) {
      omitted++;
      return;
    }
    inSecond++;
    try {
      publisher.publish(topic, Json.write(message(told)));
      omitted = 0;
    } catch (IOException e) {
      LOG.error("presence", e, "who serves could not be published");
    }
  }

  private Message message(Presence.PresenceEvent told) {
    Presence.Member member = told.member();
    return new Message(
        bus,
        clock.instant(),
        told.change().name().toLowerCase(Locale.ROOT),
        omitted,
        told.service(),
        Long.toString(member.number()),
        member.client(),
        member.concurrency(),
        member.version(),
        member.metadata());
  }
}
