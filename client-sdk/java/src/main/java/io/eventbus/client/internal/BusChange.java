package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusException;
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
 * One move of a client to another bus: makes the new connection before it breaks the old one, so
 * that no event is lost, doubled or put out of order. See docs/adr/0017-change-of-bus.md.
 *
 * <p>{@link ChangeTable} says what is done when; here it is done. Until LEAVING nothing has been
 * taken from the old bus, and whatever fails leaves the client where it is. Confined to the
 * conductor, except for what is said to be called by others.
 */
final class BusChange implements ChangeTarget.Listener, FrameDispatcher.Standby {
  /** What the client waits for when the bus names no useful deadline. */
  private static final Duration MIN = Duration.ofMillis(100);

  private static final Duration MAX = Duration.ofMinutes(5);

  /**
   * How long an application may keep the old connection from being read while it cannot publish.
   */
  private static final Duration STALL = Duration.ofMillis(100);

  /** How long a new bus that is given up may take to drain. */
  private static final Duration UNDO = Duration.ofSeconds(2);

  /** Whose connections these are; called on the conductor. */
  interface Home extends ChangeTarget.Heir {
    /**
     * The new connection is the one that the client has; the old one is to be closed when no call
     * is under way there.
     *
     * @param until when its calls are not waited for any longer, in the clock's nanoseconds
     */
    void moved(BusLink link, Welcome welcome, long until);

    /** The client stays at its old bus. */
    void stayed(URI url, String why);

    /** The client has no connection any more: the old one has ended, or is not waited for. */
    void lostBoth(String why);
  }

  private final Connector.Environment environment;
  private final Scheduler conductor;
  private final ConnectionTraffic traffic;
  private final BusLink.Parts parts;
  private final Home home;
  private final BusLink old;
  private final ChangeTarget target;
  // By the new bus.
  private final Set<Long> unconfirmed = new HashSet<>();
  private final Set<Long> confirmed = new HashSet<>();
  private final Map<Long, Registration> served = new HashMap<>();
  private final Set<Long> undrained = new HashSet<>();

  private ChangeTable.Phase phase = ChangeTable.Phase.CONNECTING;
  private String why = "";
  private Scheduler.@Nullable Timer deadline;
  private Scheduler.@Nullable Timer pause;
  private Duration patience = MIN;
  private Duration waited = Duration.ZERO;
  // When the bus closes a client that has not gone.
  private long closesAt;
  // What the new bus gives to this client it gives to nobody else.
  private boolean exclusive;
  private boolean grouped;
  private final PingFence fence;

  /**
   * Makes a move; {@link #start} begins it.
   *
   * @param urls where to, at least one
   * @param producer the client's number, which it must keep
   */
  BusChange(
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
        new ChangeTarget(
            options, environment, new ChangeTarget.Parts(this, this, home), urls, hello, producer);
  }

  /**
   * Begins.
   *
   * @param wanted milliseconds until the bus closes a client that has not gone
   * @param gone nanoseconds of it that have gone by
   */
  void start(long wanted, long gone) {
    patience = Duration.ofMillis(Math.max(MIN.toMillis(), Math.min(MAX.toMillis(), wanted)));
    closesAt = environment.clock().nanoTime() - gone + patience.toNanos();
    // Before the bus closes the old connection there has to be time to stay.
    deadline = schedule(patience.multipliedBy(3).dividedBy(4).minusNanos(gone), this::onLate);
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

  /** On the conductor: the last thing is to give what was released to the queues. */
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

  // ---- What happens; the table says what is done about it

  private ChangeTable.Action on(ChangeTable.Event event) {
    return on(event, why);
  }

  /**
   * The only writer of the phase.
   *
   * @param reason why the client stays, if this is what it stays for
   */
  private ChangeTable.Action on(ChangeTable.Event event, String reason) {
    ChangeTable.Step step = ChangeTable.step(phase, event);
    if (step.action() != ChangeTable.Action.NOTHING || step.next() != phase) {
      why = reason;
    }
    phase = step.next();
    act(step.action());
    return step.action();
  }

  private void soon(ChangeTable.Event event) {
    conductor.execute(() -> on(event));
  }

  private void act(ChangeTable.Action action) {
    switch (action) {
      case NOTHING -> {}
      case SUBSCRIBE -> subscribe();
      case FLUSH -> flush();
      case PAUSE -> publishOnForAMoment();
      case LOOK_LATER -> pause = schedule(STALL, this::onStall);
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
    on(ChangeTable.Event.READY);
  }

  @Override
  public void unreachable(String reason) {
    on(ChangeTable.Event.UNREACHABLE, reason);
  }

  @Override
  public void lost(String reason) {
    on(ChangeTable.Event.NEW_ENDED, reason);
    fence.pass();
  }

  /**
   * The old connection has ended.
   *
   * @return true if the client goes on over the new one; if not, the move is over
   */
  boolean oldEnded() {
    boolean over = phase.isOver();
    if (!over && phase != ChangeTable.Phase.RECEIVING_MOVED) {
      // Deliveries that the old bus still had may be older than what the new one delivers.
      parts.subscriptions().interrupted(old.heardAtMicros());
    }
    return on(ChangeTable.Event.OLD_ENDED) != ChangeTable.Action.ABANDON && !over;
  }

  /** The client is closed. */
  void abandon() {
    on(ChangeTable.Event.CLOSED);
  }

  @Override
  public void confirmed(long subscription) {
    conductor.execute(
        () -> {
          if (phase == ChangeTable.Phase.MOVED) {
            locked(() -> parts.dispatcher().confirmed(subscription));
          } else {
            confirmed.add(subscription);
          }
          if (unconfirmed.remove(subscription) && unconfirmed.isEmpty()) {
            on(ChangeTable.Event.CONFIRMED);
          }
        });
  }

  @Override
  public void refused(long subscription, EventBusException failure) {
    conductor.execute(
        () -> {
          served.remove(subscription);
          on(ChangeTable.Event.REFUSED, "it refuses a subscription: " + failure.getMessage());
        });
  }

  @Override
  public void drained(long subscription) {
    conductor.execute(
        () -> {
          if (undrained.remove(subscription) && undrained.isEmpty()) {
            // Its calls end first.
            long until = environment.clock().nanoTime() + UNDO.toNanos();
            parts
                .calls()
                .whenQuiet(target.ready().channel(), until, () -> on(ChangeTable.Event.UNDONE));
          }
        });
  }

  /** Of the old connection nothing can be left unread, so that the move has to end instead. */
  private void onTooMuch() {
    on(ChangeTable.Event.TOO_MUCH, "too much came for groups meanwhile");
  }

  /** The bus has waited long enough; in a moment it closes the old connection. */
  private void onLate() {
    on(
        ChangeTable.Event.LATE,
        phase == ChangeTable.Phase.CONNECTING ? "no connection in time" : "not done in time");
  }

  /**
   * An application that publishes in its handler waits for room to publish, and so does not take
   * what came; where the old connection is not read then, the answer, which would make room, is not
   * seen.
   */
  private void onStall() {
    on(old.isPaused() ? ChangeTable.Event.NOT_FLUSHED : ChangeTable.Event.FLOWING);
  }

  /**
   * What the old bus has is the application's to take, however slowly; it has left for the rest.
   */
  private void onWaited() {
    boolean behind = parts.dispatcher().isHeldBack() && waited.compareTo(MAX) < 0;
    on(behind ? ChangeTable.Event.BEHIND : ChangeTable.Event.WAITED);
  }

  /** On the old connection's thread, under the dispatcher's lock: it brings nothing more. */
  private void onLeft() {
    if (grouped) {
      conductor.execute(this::awaitNew);
    } else {
      release();
      soon(ChangeTable.Event.DRAINED);
    }
  }

  /**
   * Two connections have no order: what the new bus had sent for a group before the old one was
   * done may not be read yet, and would come behind events with higher numbers.
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
    on(ChangeTable.Event.DRAINED);
  }

  // ---- What is done

  private void subscribe() {
    parts.calls().opened(target.ready().channel());
    List<Registration> all = parts.subscriptions().beginChange();
    locked(() -> parts.dispatcher().hold(() -> conductor.execute(this::onTooMuch)));
    for (Registration registration : all) {
      served.put(registration.id(), registration);
      unconfirmed.add(registration.id());
      exclusive |= registration.isExclusive();
      grouped |= registration instanceof SubscriptionState && registration.isExclusive();
    }
    target.send(all.stream().map(Registration::beginFrame).toList());
    if (all.isEmpty()) {
      on(ChangeTable.Event.CONFIRMED);
    }
  }

  /** Nothing more is published at the old bus; it is asked whether it has handed on everything. */
  private void flush() {
    target.ready().link().limitHeld();
    Batch barrier =
        parts
            .barriers()
            .askOnce(
                new Barriers.Asker() {
                  @Override
                  public void answered() {
                    soon(ChangeTable.Event.FLUSHED);
                  }

                  @Override
                  public void refused(EventBusException failure) {
                    soon(ChangeTable.Event.NOT_FLUSHED);
                  }
                });
    parts.outbox().part(barrier);
    pause = schedule(STALL, this::onStall);
  }

  private void publishOnForAMoment() {
    cancel(pause);
    parts.barriers().forget();
    parts.outbox().stay();
    pause = schedule(Barriers.PAUSE, () -> on(ChangeTable.Event.ASK_AGAIN));
  }

  private void leave() {
    cancel(pause);
    // Only the old bus has what is queued there for this client, and answers the calls that are
    // under way; for leaving it gives the whole time again.
    closesAt = environment.clock().nanoTime() + patience.toNanos();
    cancel(deadline);
    deadline = schedule(patience, this::onWaited);
    if (!parts.subscriptions().leave(served.values(), this::onLeft)) {
      hasLeft();
    }
    parts.outbox().whenQuiet(this::whenSent);
  }

  /** Any thread: what was said to the new bus has to reach it before the events do. */
  private void whenSent() {
    target.whenSent(() -> on(ChangeTable.Event.SENT));
  }

  private void moveSending() {
    ChangeTarget.Ready ready = target.ready();
    traffic.move(ready.welcome(), ready.channel());
  }

  private void resumeSending() {
    ChangeTarget.Ready ready = target.ready();
    traffic.resume(ready.welcome(), ready.channel());
  }

  /** Under the dispatcher's lock: from now on the new connection's events are handed on. */
  private void release() {
    parts.dispatcher().release(true);
    // Before the first credit: what was held takes of the room.
    parts.dispatcher().handOver();
    target.ready().link().goLive();
  }

  private void waitOn() {
    waited = waited.plus(UNDO);
    deadline = schedule(UNDO, this::onWaited);
  }

  private void finish() {
    ChangeTarget.Ready ready = target.ready();
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

  /** Nothing was taken from the old bus; what the new one has for groups nobody else has. */
  private void undo() {
    parts.outbox().stay();
    parts.barriers().forget();
    cancel(pause);
    if (!exclusive || served.isEmpty()) {
      on(ChangeTable.Event.UNDONE);
      return;
    }
    locked(() -> parts.dispatcher().holdGroupsOnly());
    target.ready().link().takeRest();
    undrained.addAll(served.keySet());
    target.send(served.values().stream().map(Registration::endFrame).toList());
    pause = schedule(UNDO, () -> on(ChangeTable.Event.UNDONE));
  }

  private void stayUnbegun() {
    end();
    target.drop();
    home.stayed(target.url(), why);
  }

  private void stay() {
    end();
    dropTarget();
    parts.outbox().stay();
    locked(() -> parts.dispatcher().release(false));
    parts.subscriptions().stayed();
    home.stayed(target.url(), why);
  }

  /** The new bus is lost after the old one was left: what it had is lost with it. */
  private void comeBack(boolean sending) {
    Transport.Channel channel = old.channel();
    end();
    dropTarget();
    locked(() -> parts.dispatcher().release(true));
    parts.dispatcher().readFrom(old);
    if (sending && channel != null) {
      traffic.resume(null, channel);
    } else {
      parts.outbox().stay();
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
