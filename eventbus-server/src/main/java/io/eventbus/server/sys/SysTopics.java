package io.eventbus.server.sys;

import io.eventbus.protocol.ServiceName;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.call.Presence;
import io.eventbus.server.config.SysConfig;
import io.eventbus.server.internal.InternalClient;
import io.eventbus.server.view.BusView;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Publisher of a bus's own topics, from its start until it is closed. Figures are collected on a
 * thread of its own, because for many clients that takes longer than an event loop has.
 */
public final class SysTopics implements AutoCloseable {
  private final Advisories advisories;
  private final ScheduledExecutorService thread;
  private final ListenerRegistration registration;
  private final AuditTrail audit;

  private SysTopics(
      Advisories advisories,
      AuditTrail audit,
      ScheduledExecutorService thread,
      ListenerRegistration registration) {
    this.audit = audit;
    this.advisories = advisories;
    this.thread = thread;
    this.registration = registration;
  }

  /**
   * Place of the bus in its cluster.
   *
   * @param isMember whether it is a member; reports of the registry before that are history
   */
  public record Place(String bus, Registry registry, BooleanSupplier isMember) {}

  /**
   * Members of services of the bus.
   *
   * @param rejoin how long a lost member counts as present
   */
  public record Services(Presence presence, Duration rejoin) {}

  /**
   * Begins to publish, whenever anything subscribes.
   *
   * @param place of the bus in its cluster
   * @param observers accounts that may see events
   */
  public static SysTopics start(
      SysConfig config,
      Place place,
      BusView view,
      Advisories advisories,
      AuditTrail audit,
      Observers observers,
      Services services,
      InternalClient client,
      Clock clock) {
    Publisher operators = operators(observers, client);
    StatsTopic stats = new StatsTopic(place.bus(), view, observers::isWanted, operators, clock);
    advisories.listen(events(place.bus(), observers, client, clock));
    audit.publishTo(operators);
    ScheduledExecutorService thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread made = new Thread(task, "eventbus-sys");
              made.setDaemon(true);
              return made;
            });
    services
        .presence()
        .listen(
            members(place.bus(), observers, client, clock),
            (task, nanos) -> later(thread, task, nanos),
            services.rejoin().toNanos());
    long millis = config.interval().toMillis();
    if (millis > 0) {
      var unused = thread.scheduleAtFixedRate(stats, millis, millis, TimeUnit.MILLISECONDS);
    }
    ListenerRegistration registration =
        place
            .registry()
            .addListener(new BusStates(new BusId(place.bus()), place.isMember(), advisories::tell));
    return new SysTopics(advisories, audit, thread, registration);
  }

  /** Publishes to those who see everything. */
  private static Publisher operators(Observers observers, InternalClient client) {
    return (topic, payload) ->
        observers.wanting(topic).forEach(index -> client.publish(index, topic, payload));
  }

  /** Publishes what happens, to those who may see it. */
  static Consumer<Advisory> events(
      String bus, Observers observers, InternalClient client, Clock clock) {
    return new AccountEvents<>(
        advisory -> topic(bus, "events"),
        Advisory::account,
        observers,
        new EventsTopic(
            bus, observers::isWanted, operators(observers, client), clock, System::nanoTime),
        account ->
            new EventsTopic(
                bus,
                account::isWanted,
                (topic, payload) -> client.publish(account, topic, payload),
                clock,
                System::nanoTime));
  }

  /** Publishes presence events to observers. */
  private static Consumer<Presence.PresenceEvent> members(
      String bus, Observers observers, InternalClient client, Clock clock) {
    return new AccountEvents<>(
        told -> ServiceName.presenceTopic(told.service()),
        told -> told.member().account(),
        observers,
        new PresenceTopics(
            bus, observers::isWanted, operators(observers, client), clock, System::nanoTime),
        account ->
            new PresenceTopics(
                bus,
                account::isWanted,
                (topic, payload) -> client.publish(account, topic, payload),
                clock,
                System::nanoTime));
  }

  private static void later(ScheduledExecutorService thread, Runnable task, long nanos) {
    try {
      var unused = thread.schedule(task, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The bus ends: nobody hears any more of who serves.
    }
  }

  /**
   * Returns a topic of a bus: {@code $SYS.bus.NAME.WHAT}, where each dot of the name is {@code
   * %2E}, because a name is one token.
   */
  static String topic(String bus, String what) {
    // Names have letters, digits and . - _ only, so that nothing else has to be replaced, and
    // different names have different topics.
    return "$SYS.bus." + bus.replace(".", "%2E") + "." + what;
  }

  /** Returns the topic of an entry of a bus's audit log. */
  static String auditTopic(String bus, String type) {
    return "$SYS.audit." + bus.replace(".", "%2E") + "." + type;
  }

  /** Publishes nothing more. */
  @Override
  public void close() {
    registration.close();
    thread.shutdownNow();
    advisories.listen(advisory -> {});
    audit.publishTo(null);
  }
}
