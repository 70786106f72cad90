package io.eventbus.client.internal.connection;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.inbound.Dispatcher;
import io.eventbus.client.internal.inbound.Registration;
import io.eventbus.client.internal.inbound.SubscriptionState;
import io.eventbus.client.internal.outbound.Barriers;
import io.eventbus.client.internal.outbound.Batch;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Move of a client to another bus: makes the new connection before it breaks the old one, so that
 * no event is lost, duplicated or reordered. See docs/adr/0017-client-move.md.
 *
 * <p>{@link BusMoveTable} decides what is done when; this class does it. Until LEAVING nothing has
 * been given up at the old bus, and any failure leaves the client where it is. Confined to the
 * conductor, except for methods that say otherwise.
 */
final class BusMove implements BusMoveTarget.Listener, FrameDispatcher.Standby {
  /** Time that the client allows when the bus names no useful deadline. */
  private static final Duration MIN_TIMEOUT = Duration.ofMillis(100);

  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(5);

  /**
   * Time for which an application that cannot publish may keep the old connection from being read.
   */
  private static final Duration MAX_STALL = Duration.ofMillis(100);

  /** Time for which a new bus that is given up may drain. */
  private static final Duration UNDO_TIMEOUT = Duration.ofSeconds(2);

  /** Owner of the connections; called on the conductor. */
  interface Home extends BusMoveTarget.Heir {
    /**
     * Called when the new connection has become the client's; the old one is to be closed when no
     * call is under way there.
     *
     * @param until time of the clock in nanoseconds after which its calls are not waited for
     */
    void moved(BusLink link, Welcome welcome, long until);

    /** Called when the client stays at its old bus. */
    void stayed(URI url, String why);

    /**
     * Called when the client has no connection any more: the old one has ended, or is not waited
     * for.
     */
    void lostBoth(String why);
  }

  private final Connector.Environment environment;
  private final Scheduler conductor;
  private final ConnectionTraffic traffic;
  private final BusLink.Parts parts;
  private final Home home;
  private final BusLink old;
  private final BusMoveTarget target;
  // Subscriptions that the new bus has not confirmed.
  private final Set<Long> unconfirmed = new HashSet<>();
  private final Set<Long> confirmed = new HashSet<>();
  private final Map<Long, Registration> served = new HashMap<>();
  private final Set<Long> undrained = new HashSet<>();

  private BusMoveTable.Phase phase = BusMoveTable.Phase.CONNECTING;
  private String why = "";
  private Scheduler.@Nullable Timer deadline;
  private Scheduler.@Nullable Timer pause;
  private Duration timeout = MIN_TIMEOUT;
  private Duration waited = Duration.ZERO;
  // Time at which the bus closes a client that has not moved.
  private long closesAt;
  // Set if the new bus delivers events to this client only.
  private boolean exclusive;
  private boolean grouped;
  private final PingFence fence;

  /**
   * Creates a move; {@link #start} begins it.
   *
   * @param urls where to, at least one
   * @param producer the client's number, which it must keep
   */
  BusMove(
      ClientOptions options,
      Connector.Environment environment,
      Home home,
      List<URI> urls,
      Hello hello,
      BusLink old,
      long producer) {
    this.environment = environment;
    this.conductor = environment.conductor();
    this.traffic = environment.traffic();
    this.parts = environment.parts();
    this.home = home;
    this.old = old;
    this.fence = new PingFence(conductor);
    this.target =
        new BusMoveTarget(
            options, environment, new BusMoveTarget.Parts(this, this, home), urls, hello, producer);
  }

  /**
   * Begins the move.
   *
   * @param wanted milliseconds until the bus closes a client that has not moved
   * @param gone nanoseconds of it that have passed already
   */
  void start(long wanted, long gone) {
    timeout =
        Duration.ofMillis(
            Math.max(MIN_TIMEOUT.toMillis(), Math.min(MAX_TIMEOUT.toMillis(), wanted)));
    closesAt = environment.clock().nanoTime() - gone + timeout.toNanos();
    // Before the bus closes the old connection there has to be time to stay.
    deadline = schedule(timeout.multipliedBy(3).dividedBy(4).minusNanos(gone), this::onLate);
    target.connect();
  }

  private Scheduler.Timer schedule(Duration delay, Runnable task) {
    return conductor.schedule(task, delay.toNanos());
  }

  private static void cancel(Scheduler.@Nullable Timer timer) {
    if (timer != null) {
      timer.cancel();
    }
  }

  /**
   * Runs a task on the conductor under the dispatcher's lock, and then hands what was released to
   * the queues.
   */
  private void locked(Runnable task) {
    Dispatcher dispatcher = parts.dispatcher();
    dispatcher.lock();
    try {
      task.run();
      dispatcher.handOver();
    } finally {
      dispatcher.unlock();
    }
  }

  // ---- Events; the table says what is done about them

  private BusMoveTable.Action on(BusMoveTable.Event event) {
    return on(event, why);
  }

  /**
   * Handles an event: the only writer of the phase.
   *
   * @param reason why the client stays, if this is what it stays for
   */
  private BusMoveTable.Action on(BusMoveTable.Event event, String reason) {
    BusMoveTable.Step step = BusMoveTable.step(phase, event);
    if (step.action() != BusMoveTable.Action.NOTHING || step.next() != phase) {
      why = reason;
    }
    phase = step.next();
    act(step.action());
    return step.action();
  }

  private void soon(BusMoveTable.Event event) {
    conductor.execute(() -> on(event));
  }

  private void act(BusMoveTable.Action action) {
    switch (action) {
      case NOTHING -> {}
      case SUBSCRIBE -> subscribe();
      case FLUSH -> flush();
      case PAUSE -> publishOnForAMoment();
      case LOOK_LATER -> pause = schedule(MAX_STALL, this::onStall);
      case LEAVE -> leave();
      case MOVE_SENDING -> moveSending();
      case MOVE_SENDING_AND_FINISH -> {
        moveSending();
        finish();
      }
      case FINISH -> finish();
      case RELEASE_AND_FINISH -> {
        locked(this::release);
        finish();
      }
      case GO_ON -> goOn();
      case RESUME_SENDING_AND_FINISH -> {
        resumeSending();
        finish();
      }
      case LOSE_SENDING -> traffic.lose();
      case WAIT_ON -> waitOn();
      case COME_BACK -> comeBack(false);
      case COME_BACK_SENDING -> comeBack(true);
      case UNDO -> undo();
      case STAY_UNBEGUN -> stayUnbegun();
      case STAY -> stay();
      case ABANDON -> drop();
      case LOSE_BOTH -> {
        drop();
        home.lostBoth(why);
      }
    }
  }

  @Override
  public void ready() {
    on(BusMoveTable.Event.READY);
  }

  @Override
  public void unreachable(String reason) {
    on(BusMoveTable.Event.UNREACHABLE, reason);
  }

  @Override
  public void lost(String reason) {
    on(BusMoveTable.Event.NEW_ENDED, reason);
    fence.pass();
  }

  /**
   * Handles the end of the old connection; returns true if the client goes on over the new one,
   * false if the move is over.
   */
  boolean oldEnded() {
    boolean over = phase.isOver();
    if (!over && phase != BusMoveTable.Phase.RECEIVING_MOVED) {
      // Deliveries that the old bus still had may be older than those of the new one.
      parts.subscriptions().interrupted(old.heardAtMicros());
    }
    return on(BusMoveTable.Event.OLD_ENDED) != BusMoveTable.Action.ABANDON && !over;
  }

  /** Abandons the move, because the client is closed. */
  void abandon() {
    on(BusMoveTable.Event.CLOSED);
  }

  @Override
  public void confirmed(long subscription) {
    conductor.execute(
        () -> {
          if (phase == BusMoveTable.Phase.MOVED) {
            locked(() -> parts.dispatcher().confirmed(subscription));
          } else {
            confirmed.add(subscription);
          }
          if (unconfirmed.remove(subscription) && unconfirmed.isEmpty()) {
            on(BusMoveTable.Event.CONFIRMED);
          }
        });
  }

  @Override
  public void refused(long subscription, EventBusException failure) {
    conductor.execute(
        () -> {
          served.remove(subscription);
          on(BusMoveTable.Event.REFUSED, "it refuses a subscription: " + failure.getMessage());
        });
  }

  @Override
  public void drained(long subscription) {
    conductor.execute(
        () -> {
          if (undrained.remove(subscription) && undrained.isEmpty()) {
            // The calls of the new bus end first.
            long until = environment.clock().nanoTime() + UNDO_TIMEOUT.toNanos();
            parts
                .calls()
                .whenQuiet(target.ready().channel(), until, () -> on(BusMoveTable.Event.UNDONE));
          }
        });
  }

  /** Ends the move, because nothing of the old connection can be left unread. */
  private void onTooMuch() {
    on(BusMoveTable.Event.TOO_MUCH, "too much came for groups meanwhile");
  }

  /**
   * Ends the move, because the bus has waited long enough and is about to close the old connection.
   */
  private void onLate() {
    on(
        BusMoveTable.Event.LATE,
        phase == BusMoveTable.Phase.CONNECTING ? "no connection in time" : "not done in time");
  }

  /**
   * Ends the wait for the answer if the old connection is not read: an application that publishes
   * in its handler waits for room to publish, and so does not consume what came. The answer, which
   * would make room, is not seen then.
   */
  private void onStall() {
    on(old.isPaused() ? BusMoveTable.Event.NOT_FLUSHED : BusMoveTable.Event.FLOWING);
  }

  /**
   * Handles the end of the drain timeout: what the old bus has is the application's to consume,
   * however slowly; the rest is given up.
   */
  private void onWaited() {
    boolean behind = parts.dispatcher().isStalled() && waited.compareTo(MAX_TIMEOUT) < 0;
    on(behind ? BusMoveTable.Event.BEHIND : BusMoveTable.Event.WAITED);
  }

  /**
   * Called when the old connection brings nothing more; on its thread, under the dispatcher's lock.
   */
  private void onLeft() {
    if (grouped) {
      conductor.execute(this::awaitNew);
    } else {
      release();
      soon(BusMoveTable.Event.DRAINED);
    }
  }

  /**
   * Waits until the new connection is read up to here. Two connections have no order: what the new
   * bus had sent for a group before the old one was drained may be unread yet, and would come
   * behind events with higher numbers.
   */
  private void awaitNew() {
    switch (phase) {
      case LEAVING, SENDING_MOVED -> fence.await(target.ready().link(), this::hasLeft);
      case NEW_LOST, NEW_LOST_SENDING -> hasLeft();
      default -> {}
    }
  }

  private void hasLeft() {
    locked(this::release);
    on(BusMoveTable.Event.DRAINED);
  }

  // ---- Actions

  private void subscribe() {
    parts.calls().opened(target.ready().channel());
    List<Registration> all = parts.subscriptions().beginMove();
    locked(() -> parts.dispatcher().hold(() -> conductor.execute(this::onTooMuch)));
    for (Registration registration : all) {
      served.put(registration.id(), registration);
      unconfirmed.add(registration.id());
      exclusive |= registration.isExclusive();
      grouped |= registration instanceof SubscriptionState && registration.isExclusive();
    }
    target.send(all.stream().map(Registration::beginFrame).toList());
    if (all.isEmpty()) {
      on(BusMoveTable.Event.CONFIRMED);
    }
  }

  /** Stops publishing at the old bus and asks whether it has forwarded everything. */
  private void flush() {
    target.ready().link().limitByCredit();
    Batch barrier =
        parts
            .barriers()
            .askOnce(
                new Barriers.Asker() {
                  @Override
                  public void answered() {
                    soon(BusMoveTable.Event.FLUSHED);
                  }

                  @Override
                  public void refused(EventBusException failure) {
                    soon(BusMoveTable.Event.NOT_FLUSHED);
                  }
                });
    parts.outbox().beginMove(barrier);
    pause = schedule(MAX_STALL, this::onStall);
  }

  private void publishOnForAMoment() {
    cancel(pause);
    parts.barriers().forget();
    parts.outbox().cancelMove();
    pause = schedule(Barriers.RETRY_PAUSE, () -> on(BusMoveTable.Event.ASK_AGAIN));
  }

  private void leave() {
    cancel(pause);
    // Only the old bus has what is queued there for this client, and answers the calls that are
    // under way; for leaving it grants the whole time again.
    closesAt = environment.clock().nanoTime() + timeout.toNanos();
    cancel(deadline);
    deadline = schedule(timeout, this::onWaited);
    parts.durable().leave(old);
    if (!parts.subscriptions().leave(served.values(), this::onLeft)) {
      hasLeft();
    }
    parts.outbox().whenQuiet(this::whenSent);
  }

  /**
   * Runs once all that was said to the new bus is sent, because it has to be there before the
   * events. Any thread.
   */
  private void whenSent() {
    target.whenSent(() -> on(BusMoveTable.Event.SENT));
  }

  private void moveSending() {
    BusMoveTarget.Ready ready = target.ready();
    traffic.move(ready.welcome(), ready.channel());
  }

  private void resumeSending() {
    BusMoveTarget.Ready ready = target.ready();
    traffic.resume(ready.welcome(), ready.channel());
  }

  /** Hands on the new connection's events from now on. Under the dispatcher's lock. */
  private void release() {
    parts.dispatcher().release(true);
    // Before the first credit, because what was held takes part of the room.
    parts.dispatcher().handOver();
    target.ready().link().goLive();
  }

  private void waitOn() {
    waited = waited.plus(UNDO_TIMEOUT);
    deadline = schedule(UNDO_TIMEOUT, this::onWaited);
  }

  private void finish() {
    BusMoveTarget.Ready ready = target.ready();
    end();
    target.handOver();
    parts.subscriptions().moved(served.values());
    locked(() -> confirmed.forEach(parts.dispatcher()::confirmed));
    home.moved(ready.link(), ready.welcome(), closesAt);
    target.passOn();
  }

  private void end() {
    cancel(deadline);
    cancel(pause);
    fence.forget();
    parts.barriers().forget();
  }

  private void goOn() {
    fence.forget();
    parts.barriers().forget();
    cancel(pause);
    old.abandon();
    locked(this::release);
    traffic.lose();
    whenSent();
  }

  /**
   * Undoes the subscriptions at the new bus. The old bus still has its own. Events of groups that
   * the new bus has delivered have reached no other member.
   */
  private void undo() {
    parts.outbox().cancelMove();
    parts.barriers().forget();
    cancel(pause);
    if (!exclusive || served.isEmpty()) {
      on(BusMoveTable.Event.UNDONE);
      return;
    }
    locked(() -> parts.dispatcher().holdGroupsOnly());
    target.ready().link().grantUnlimited();
    undrained.addAll(served.keySet());
    parts.durable().leave(target.ready().link());
    target.send(served.values().stream().map(Registration::endFrame).toList());
    pause = schedule(UNDO_TIMEOUT, () -> on(BusMoveTable.Event.UNDONE));
  }

  private void stayUnbegun() {
    end();
    target.drop();
    home.stayed(target.url(), why);
  }

  private void stay() {
    end();
    dropTarget();
    parts.outbox().cancelMove();
    locked(() -> parts.dispatcher().release(false));
    parts.subscriptions().stayed();
    home.stayed(target.url(), why);
  }

  /** Returns to the old bus after the new one is lost; what the new one had is lost with it. */
  private void comeBack(boolean sending) {
    Transport.Channel channel = old.channel();
    end();
    dropTarget();
    locked(() -> parts.dispatcher().release(true));
    parts.dispatcher().readFrom(old);
    if (sending && channel != null) {
      traffic.resume(null, channel);
    } else {
      parts.outbox().cancelMove();
    }
    parts.subscriptions().cameBack();
    home.stayed(target.url(), why);
  }

  private void drop() {
    end();
    dropTarget();
    locked(() -> parts.dispatcher().release(true));
  }

  private void dropTarget() {
    Transport.Channel channel = target.channel();
    target.drop();
    parts.calls().lost(channel);
  }
}
