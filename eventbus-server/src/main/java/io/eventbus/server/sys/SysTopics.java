package io.eventbus.server.sys;

import io.eventbus.registry.BusId;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.server.admin.BusView;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.call.Presence;
import io.eventbus.server.config.SysConfig;
import io.eventbus.server.internal.InternalClient;
import io.eventbus.server.routing.SubscriptionIndex;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Publishes what a bus tells of itself, from its start until it is closed. Figures are taken on a
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
   * Where the bus is in its cluster.
   *
   * @param bus its name
   * @param registry knows the other buses
   * @param isMember whether it has its place; what the registry tells before is history
   */
  public record Place(String bus, Registry registry, BooleanSupplier isMember) {}

  /**
   * The members of services of the bus.
   *
   * @param presence tells of them
   * @param rejoin how long one that was lost may be away
   */
  public record Services(Presence presence, Duration rejoin) {}

  /**
   * Begins to publish, whenever anything subscribes.
   *
   * @param config how often
   * @param place where the bus is
   * @param view its figures
   * @param advisories what happens on it
   * @param audit what is kept of it
   * @param services who serves at it
   * @param index says whether anything subscribes
   * @param client publishes
   * @param clock the time of what is told
   * @return the running topics
   */
  public static SysTopics start(
      SysConfig config,
      Place place,
      BusView view,
      Advisories advisories,
      AuditTrail audit,
      Services services,
      SubscriptionIndex index,
      InternalClient client,
      Clock clock) {
    EventsTopic events =
        new EventsTopic(place.bus(), index::isWanted, client::publish, clock, System::nanoTime);
    StatsTopic stats = new StatsTopic(place.bus(), view, index::isWanted, client::publish, clock);
    advisories.listen(events);
    audit.publishTo(client::publish);
    ScheduledExecutorService thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread made = new Thread(task, "eventbus-sys");
              made.setDaemon(true);
              return made;
            });
    PresenceTopics members =
        new PresenceTopics(place.bus(), index::isWanted, client::publish, clock, System::nanoTime);
    services
        .presence()
        .listen(members, (task, nanos) -> later(thread, task, nanos), services.rejoin().toNanos());
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

  private static void later(ScheduledExecutorService thread, Runnable task, long nanos) {
    try {
      var unused = thread.schedule(task, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The bus ends: nobody hears any more of who serves.
    }
  }

  /**
   * Returns a topic of a bus.
   *
   * @param bus its name
   * @param what the last token
   * @return {@code $SYS.bus.NAME.WHAT}, where each dot of the name is {@code %2E}: a name is one
   *     token
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
