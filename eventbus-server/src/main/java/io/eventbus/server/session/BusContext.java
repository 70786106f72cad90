package io.eventbus.server.session;

import io.eventbus.journal.Journals;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.LimitsConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.config.ServicesConfig;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.durable.JournalConsumers;
import io.eventbus.server.durable.StoredDelivery;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Revocations;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * State that all sessions of a bus share.
 *
 * <p>{@code limits} bound the frames of clients, {@code services} their calls and registrations;
 * {@code revocations} list credentials that are no longer valid; {@code journals} keep the events
 * of durable topics, {@code consumers} share what consumes them, and {@code stored} delivers them
 * to subscribers; all three null for a bus without any.
 */
public record BusContext(
    String name,
    LimitsConfig limits,
    SubscriptionIndex index,
    BusMemory memory,
    Sessions sessions,
    Authentications authentications,
    LoopBarrier barrier,
    BusCounters stats,
    Clock clock,
    ClusterGuarantees cluster,
    Advisories advisories,
    QuotaAccounts quotas,
    Revocations revocations,
    ServicesConfig services,
    @Nullable Journals journals,
    @Nullable JournalConsumers consumers,
    @Nullable StoredDelivery stored) {

  /**
   * Creates the context of a bus that serves alone, publishes no advisories and has the default
   * limits of services.
   */
  public BusContext(
      String name,
      LimitsConfig limits,
      SubscriptionIndex index,
      BusMemory memory,
      Sessions sessions,
      Authentications authentications,
      LoopBarrier barrier,
      BusCounters stats,
      Clock clock) {
    this(
        name,
        limits,
        index,
        memory,
        sessions,
        authentications,
        barrier,
        stats,
        clock,
        ClusterGuarantees.ALONE,
        new Advisories(),
        new QuotaAccounts(new Advisories(), System::nanoTime),
        new Revocations(),
        ServerConfig.defaults().services(),
        null,
        null,
        null);
  }

  FrameLimits frameLimits() {
    return new FrameLimits(limits.payloadBytes(), limits.headers(), limits.headerBytes());
  }

  /** Returns the time in microseconds since the epoch. */
  long nowMicros() {
    return Frames.micros(clock.instant());
  }
}
