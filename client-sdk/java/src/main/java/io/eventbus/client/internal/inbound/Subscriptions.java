package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Interruption;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions and services of a client, over all its connections. Any thread may use it; what
 * goes to the bus goes under its lock, so that the bus hears things in the order in which they were
 * decided.
 */
public final class Subscriptions {
  // Sends a frame over the present connection.
  private final Consumer<byte[]> toBus;
  private final Notifier notifier;
  private final MicroClock clock;
  private final Map<Long, Registration> byId = new HashMap<>();
  private final Set<Long> ending = new HashSet<>();
  // Services and consumers that a bus did not know: they wait for another bus, however long that
  // takes.
  private final Set<Long> postponed = new HashSet<>();
  // Consumers that the present bus has ended, and was not asked for again.
  private final Set<Long> endedByBus = new HashSet<>();
  private volatile Snapshot snapshot = new Snapshot(List.of(), 0);
  private long nextId = 1;
  private boolean connected;
  // The failure of calls from now on.
  private @Nullable EventBusException closed;

  // During a move: frames that are sent at its end, registrations whose end the old bus was asked
  // for before, and those whose end it has to confirm before the client leaves.
  private @Nullable List<byte[]> waiting;
  private final Set<Long> endingHere = new HashSet<>();
  private final Set<Long> leaving = new HashSet<>();
  private @Nullable Runnable onLeft;
  // Microseconds since the epoch when the old bus was left; 0 before.
  private long leftAt;

  /** Subscriptions that events are delivered to, and a number that changes with them. */
  record Snapshot(List<SubscriptionState> all, long version) {}

  /** Subscription that is in force again after an interruption. */
  record Return(SubscriptionState subscription, Interruption interruption) {}

  public Subscriptions(Consumer<byte[]> toBus, Notifier notifier, MicroClock clock) {
    this.toBus = toBus;
    this.notifier = notifier;
    this.clock = clock;
  }

  public synchronized long takeId() {
    return nextId++;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  /**
   * Returns the number of bytes that may come before a buffer is full, whichever it is; 0 without
   * any.
   */
  public long room() {
    return snapshot.all().stream().mapToLong(SubscriptionState::room).min().orElse(0);
  }

  public synchronized void add(Registration subscription) {
    EventBusException end = closed;
    if (end != null) {
      // A new exception, with the stack of this call.
      throw new EventBusException.Closed(String.valueOf(end.getMessage()), end.getCause());
    }
    byId.put(subscription.id(), subscription);
    publish();
    say(subscription.beginFrame());
  }

  private void say(byte[] frame) {
    if (waiting != null) {
      waiting.add(frame);
    } else if (connected) {
      toBus.accept(frame);
    }
  }

  private void publish() {
    List<SubscriptionState> all = new ArrayList<>(all(SubscriptionState.class));
    for (ServiceState service : all(ServiceState.class)) {
      SubscriptionState broadcasts = service.broadcasts();
      if (broadcasts != null) {
        all.add(broadcasts);
      }
    }
    snapshot = new Snapshot(List.copyOf(all), snapshot.version() + 1);
  }

  /** Notes that a service receives broadcasts from now on. */
  synchronized void receivesMore() {
    publish();
  }

  private <R extends Registration> List<R> all(Class<R> kind) {
    return byId.values().stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /** Sends a frame about a registration to the bus, if the bus knows the registration. */
  public synchronized void tell(Registration registration, byte[] frame) {
    if (connected && byId.get(registration.id()) == registration) {
      say(frame);
    }
  }

  /** Unsubscribes on behalf of the application; events that are under way still come. */
  public synchronized void unsubscribe(Registration subscription) {
    if (!byId.containsKey(subscription.id()) || !ending.add(subscription.id())) {
      return;
    }
    if (connected) {
      say(subscription.endFrame());
    } else {
      remove(subscription.id());
    }
  }

  /** Removes a registration for which the bus sends nothing more. */
  private void remove(long id) {
    remove(id, "the subscription or service is ended", null);
  }

  private void remove(long id, String why, @Nullable Throwable cause) {
    Registration subscription = byId.remove(id);
    ending.remove(id);
    postponed.remove(id);
    endedByBus.remove(id);
    if (subscription != null) {
      publish();
      subscription.end();
      if (!subscription.isConfirmed()) {
        // The success of a confirmed one may still be on its way to the application.
        notifier.fail(() -> subscription.failReady(new EventBusException.Closed(why, cause)));
      }
    }
  }

  /**
   * Asks for everything again over a new connection. The outbox must take control frames by then.
   */
  public synchronized void connected() {
    connected = true;
    endedByBus.clear();
    byId.values().forEach(subscription -> toBus.accept(subscription.beginFrame()));
  }

  /**
   * Notes that the connection is lost.
   *
   * @param heardAt microseconds since the epoch when the bus was last heard from
   */
  public synchronized void disconnected(long heardAt) {
    connected = false;
    interrupted(leftAt == 0 ? heardAt : Math.min(leftAt, heardAt));
    endMove();
    // No bus is left that could send anything for these.
    new ArrayList<>(ending).forEach(this::remove);
  }

  /** Notes since when no bus has the subscriptions in force, unless that is known already. */
  public synchronized void interrupted(long since) {
    for (Registration registration : byId.values()) {
      SubscriptionState subscription = registration.events();
      if (registration.isConfirmed() && subscription != null && subscription.awaySince == 0) {
        subscription.awaySince = since;
      }
    }
  }

  /**
   * Notes that a bus has a subscription or service in force; returns the subscription and how long
   * no bus had it in force, or null if there was no interruption.
   */
  synchronized @Nullable Return confirmed(long id) {
    Registration registration = byId.get(id);
    if (registration == null) {
      return null;
    }
    if (!registration.isConfirmed()) {
      registration.confirm();
      publish();
      notifier.complete(registration::completeReady);
      return null;
    }
    return back(registration.events());
  }

  private @Nullable Return back(@Nullable SubscriptionState subscription) {
    long since = subscription == null ? 0 : subscription.awaySince;
    if (subscription == null || since == 0) {
      return null;
    }
    subscription.awaySince = 0;
    return new Return(
        subscription,
        new Interruption(subscription.filter(), instant(since), instant(clock.epochMicros())));
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  /**
   * Notes that the bus sends nothing more for a subscription; returns the task to run if it was the
   * last that delayed a move, else null.
   */
  public synchronized @Nullable Runnable drained(long id) {
    if (!leaving.remove(id)) {
      remove(id);
      return null;
    }
    if (endingHere.contains(id)) {
      remove(id);
    }
    if (!leaving.isEmpty()) {
      return null;
    }
    Runnable done = onLeft;
    onLeft = null;
    return done;
  }

  /**
   * Notes that the bus refuses a subscription; returns true if the application waits for the
   * answer.
   */
  public synchronized boolean refused(long id, EventBusException failure) {
    Registration subscription = byId.get(id);
    if (subscription == null) {
      return false;
    }
    boolean waiting = !subscription.isConfirmed();
    if (waiting) {
      // Before remove(), whose reason says less.
      notifier.fail(() -> subscription.failReady(failure));
    }
    remove(id);
    return waiting && subscription.isAwaited();
  }

  /**
   * Fails the stages of all registrations of a kind, because the bus does not know of it; they
   * stay, for another bus.
   */
  public synchronized void postpone(Class<? extends Registration> kind, EventBusException failure) {
    for (Registration registration : all(kind)) {
      if (!registration.isConfirmed()) {
        postponed.add(registration.id());
        notifier.fail(() -> registration.failReady(failure));
      }
    }
  }

  /** Notes that the bus has ended a registration, for {@link #again}. */
  public synchronized void ended(Registration registration) {
    endedByBus.add(registration.id());
  }

  /**
   * Asks the bus again for a registration that it has ended, unless that was done meanwhile. In a
   * move this waits until the client stays: the other bus is asked anyway.
   */
  public synchronized void again(Registration registration) {
    if (waiting == null && endedByBus.remove(registration.id())) {
      ask(registration);
    }
  }

  private void ask(Registration registration) {
    if (!ending.contains(registration.id())) {
      tell(registration, registration.beginFrame());
    }
  }

  /**
   * Ends a registration that the bus has not answered, also at the bus, which may know it by now.
   */
  public synchronized void expire(long id, EventBusException failure) {
    Registration subscription = byId.get(id);
    if (subscription == null
        || subscription.isConfirmed()
        || ending.contains(id)
        || postponed.contains(id)) {
      return;
    }
    notifier.fail(() -> subscription.failReady(failure));
    if (!subscription.isAwaited()) {
      notifier.tell(listener -> listener.problem(failure));
    }
    // An application that tries again would get each event twice.
    subscription.discard();
    unsubscribe(subscription);
  }

  /** Ends all of them in good order, and takes no new ones. */
  public synchronized List<Registration> close() {
    closed = new EventBusException.Closed("the client is closed");
    List<Registration> all = new ArrayList<>(byId.values());
    all.forEach(this::unsubscribe);
    return all;
  }

  /** Ends all of them at once, because the client has ended. */
  public synchronized void abandon(EventBusException why) {
    closed = why;
    connected = false;
    for (Registration registration : List.copyOf(byId.values())) {
      remove(registration.id(), String.valueOf(why.getMessage()), why.getCause());
      registration.abandon();
    }
  }

  // ---- A move

  /** Begins a move: what the application asks for waits until its end. */
  public synchronized List<Registration> beginMove() {
    waiting = new ArrayList<>();
    endingHere.addAll(ending);
    return byId.values().stream().filter(s -> !ending.contains(s.id())).toList();
  }

  /**
   * Unsubscribes from the old bus, which is not an end for the application; returns false if there
   * is nothing to wait for.
   */
  public synchronized boolean leave(Collection<Registration> moved, Runnable done) {
    endingHere.retainAll(ending);
    moved.forEach(registration -> leaving.add(registration.id()));
    leaving.addAll(endingHere);
    if (leaving.isEmpty()) {
      return false;
    }
    onLeft = done;
    leftAt = clock.epochMicros();
    moved.forEach(registration -> toBus.accept(registration.endFrame()));
    return true;
  }

  /**
   * Ends a move with the client at the new bus, which has these in force; what waited is sent
   * there.
   */
  public synchronized void moved(Collection<Registration> served) {
    List<byte[]> late = waiting;
    endedByBus.clear();
    // The old bus has no chance to end these any more.
    new ArrayList<>(endingHere).forEach(this::remove);
    endMove();
    for (Registration registration : served) {
      if (!byId.containsKey(registration.id())) {
        toBus.accept(registration.endFrame());
      }
    }
    if (late != null) {
      late.forEach(toBus);
    }
  }

  /**
   * Ends a move with the client at the old bus, which it has not left; what waited is sent there.
   */
  public synchronized void stayed() {
    List<byte[]> late = waiting;
    endMove();
    byId.values().stream()
        .filter(registration -> endedByBus.remove(registration.id()))
        .forEach(this::ask);
    if (late != null) {
      late.forEach(toBus);
    }
  }

  /** Asks the old bus for everything again, to which the client comes back. */
  public synchronized void cameBack() {
    interrupted(leftAt == 0 ? clock.epochMicros() : leftAt);
    endMove();
    connected();
    byId.values().stream()
        .filter(registration -> ending.contains(registration.id()))
        .forEach(registration -> toBus.accept(registration.endFrame()));
  }

  private void endMove() {
    waiting = null;
    endingHere.clear();
    leaving.clear();
    onLeft = null;
    leftAt = 0;
  }
}
