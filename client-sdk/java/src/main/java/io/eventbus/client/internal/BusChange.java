package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusException;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One move of a client to another bus: makes the new connection before it breaks the old one, so
 * that no event is lost, doubled or put out of order. See docs/adr/0017-change-of-bus.md.
 *
 * <pre>
 *   CONNECTING --Welcome--> SUBSCRIBING --all Confirm--> FLUSHING --Barrier--> LEAVING --> OVER
 *       |                        \________________________/   all Drained, quiet    ^
 *       |                                     |  refused, too late                  |
 *       |                                     v                                     |
 *       '------- no connection --------->  UNDOING ----------- Drained -------------'
 * </pre>
 *
 * <p>Until LEAVING nothing has been taken from the old bus, and whatever fails leaves the client
 * where it is. Confined to the conductor, except for what is said to be called by others.
 */
final class BusChange implements ChangeTarget.Listener, InboundFrames.Standby {
  /** What the client waits for when the bus names no useful deadline. */
  private static final Duration SHORTEST = Duration.ofMillis(100);

  private static final Duration LONGEST = Duration.ofMinutes(5);

  /**
   * How long an application may keep the old connection from being read while it cannot publish.
   */
  private static final Duration STALL = Duration.ofMillis(100);

  /** How long a new bus that is given up may take to drain. */
  private static final Duration UNDO = Duration.ofSeconds(2);

  private enum Phase {
    CONNECTING,
    SUBSCRIBING,
    FLUSHING,
    LEAVING,
    UNDOING,
    OVER
  }

  /** Whose connections these are; called on the conductor. */
  interface Home extends ChangeTarget.Heir {
    /** The new connection is the one that the client has; the old one is to be closed. */
    void moved(Link link, Welcome welcome);

    /** The client stays at its old bus. */
    void stayed(URI url, String why);
  }

  private final Scheduler conductor;
  private final Traffic traffic;
  private final Link.Parts parts;
  private final Home home;
  private final Link old;
  private final ChangeTarget target;
  private final Set<Long> unconfirmed = new HashSet<>();
  private final Set<Long> served = new HashSet<>();
  private final Set<Long> undrained = new HashSet<>();

  private Phase phase = Phase.CONNECTING;
  private String why = "";
  private Scheduler.@Nullable Timer deadline;
  private Scheduler.@Nullable Timer pause;
  private Duration patience = SHORTEST;
  private Duration waited = Duration.ZERO;
  private boolean hasGroups;
  private boolean sendingMoved;
  private boolean receivingMoved;
  private boolean oldLost;
  private boolean targetLost;

  /**
   * Makes a move; {@link #start} begins it.
   *
   * @param urls where to, at least one
   * @param hello what to say there
   * @param old the connection that the client has
   * @param producer the client's number, which it must keep
   */
  BusChange(
      ClientOptions options,
      Connector.Environment environment,
      Home home,
      List<URI> urls,
      Hello hello,
      Link old,
      long producer) {
    this.conductor = environment.conductor();
    this.traffic = environment.traffic();
    this.parts = environment.parts();
    this.home = home;
    this.old = old;
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
    patience =
        Duration.ofMillis(Math.max(SHORTEST.toMillis(), Math.min(LONGEST.toMillis(), wanted)));
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

  // ---- Subscribing at the new bus

  @Override
  public void ready() {
    phase = Phase.SUBSCRIBING;
    List<SubscriptionState> all = parts.subscriptions().beginChange();
    locked(() -> parts.dispatcher().hold(() -> conductor.execute(this::onTooMuch)));
    for (SubscriptionState subscription : all) {
      served.add(subscription.id());
      unconfirmed.add(subscription.id());
      hasGroups |= subscription.isGroup();
    }
    target.send(all.stream().map(SubscriptionState::subscribeFrame).toList());
    if (all.isEmpty()) {
      flush();
    }
  }

  @Override
  public void confirmed(long subscription) {
    conductor.execute(
        () -> {
          if (unconfirmed.remove(subscription)
              && unconfirmed.isEmpty()
              && phase == Phase.SUBSCRIBING) {
            flush();
          }
        });
  }

  @Override
  public void refused(long subscription, EventBusException failure) {
    conductor.execute(
        () -> {
          served.remove(subscription);
          if (phase == Phase.SUBSCRIBING) {
            undo("it refuses a subscription: " + failure.getMessage());
          }
        });
  }

  // ---- Leaving the old bus

  /** Nothing more is published at the old bus; it is asked whether it has handed on everything. */
  private void flush() {
    phase = Phase.FLUSHING;
    Batch barrier =
        parts
            .barriers()
            .askOnce(
                new Barriers.Asker() {
                  @Override
                  public void answered() {
                    conductor.execute(BusChange.this::onFlushed);
                  }

                  @Override
                  public void refused(EventBusException failure) {
                    conductor.execute(BusChange.this::onNotFlushed);
                  }
                });
    parts.outbox().part(barrier);
    pause = schedule(STALL, this::onStall);
  }

  /**
   * An application that publishes in its handler waits for room to publish, and so does not take
   * what came; then the old connection is not read, and the answer, which would make room, not
   * seen.
   */
  private void onStall() {
    if (phase != Phase.FLUSHING) {
      return;
    }
    if (parts.dispatcher().isHeldBack()) {
      parts.barriers().forget();
      onNotFlushed();
    } else {
      pause = schedule(STALL, this::onStall);
    }
  }

  private void onNotFlushed() {
    if (phase == Phase.FLUSHING) {
      cancel(pause);
      // Publishing goes on meanwhile.
      parts.outbox().stay();
      pause =
          schedule(
              Barriers.PAUSE,
              () -> {
                if (phase == Phase.FLUSHING) {
                  flush();
                }
              });
    }
  }

  /** Of the old connection nothing can be left unread, so that the move has to end instead. */
  private void onTooMuch() {
    if (phase == Phase.SUBSCRIBING || phase == Phase.FLUSHING) {
      undo("too much came for groups meanwhile");
    }
  }

  private void onFlushed() {
    if (phase != Phase.FLUSHING) {
      return;
    }
    phase = Phase.LEAVING;
    cancel(pause);
    // What the old bus has for this client is got nowhere else; it gives those who leave their time
    // anew.
    cancel(deadline);
    deadline = schedule(patience, this::waitNoMore);
    if (!parts.subscriptions().leave(served, this::onLeft)) {
      locked(this::release);
      receivingMoved = true;
    }
    parts.outbox().whenQuiet(() -> target.whenSent(this::moveSending));
  }

  private void moveSending() {
    Transport.Channel channel = channel();
    Welcome welcome = target.welcome();
    boolean usable = phase == Phase.LEAVING && !targetLost && !sendingMoved;
    if (!usable || channel == null || welcome == null) {
      return;
    }
    if (oldLost) {
      traffic.resume(welcome, channel);
    } else {
      traffic.move(welcome, channel);
    }
    sendingMoved = true;
    complete();
  }

  private Transport.@Nullable Channel channel() {
    Link link = target.link();
    return link == null ? null : link.channel();
  }

  /** On the old connection's thread, under the dispatcher's lock: it brings nothing more. */
  private void onLeft() {
    release();
    conductor.execute(
        () -> {
          receivingMoved = true;
          complete();
        });
  }

  /** Under the dispatcher's lock: from now on the new connection's events are handed on. */
  private void release() {
    parts.dispatcher().release(true);
    Link link = target.link();
    if (link != null) {
      link.goLive();
    }
  }

  private void complete() {
    Link link = target.link();
    Welcome welcome = target.welcome();
    if (phase != Phase.LEAVING || !receivingMoved || link == null || welcome == null) {
      return;
    }
    if (targetLost) {
      comeBack();
    } else if (sendingMoved) {
      end();
      target.handOver();
      parts.subscriptions().moved(served);
      home.moved(link, welcome);
      target.passOn();
    }
  }

  private void end() {
    phase = Phase.OVER;
    cancel(deadline);
    cancel(pause);
    parts.barriers().forget();
  }

  // ---- When something fails

  @Override
  public void unreachable(String reason) {
    why = reason;
    stay();
  }

  @Override
  public void lost(String reason) {
    why = reason;
    if (phase == Phase.LEAVING) {
      targetLost = true;
      if (sendingMoved) {
        traffic.lose();
      }
      complete();
    } else {
      stay();
    }
  }

  /** The bus has waited long enough; in a moment it closes the old connection. */
  private void onLate() {
    switch (phase) {
      case CONNECTING -> {
        why = "no connection in time";
        stay();
      }
      case SUBSCRIBING, FLUSHING -> undo("not done in time");
      case LEAVING, UNDOING, OVER -> {}
    }
  }

  private void waitNoMore() {
    if (phase != Phase.LEAVING) {
      return;
    }
    boolean behind = parts.dispatcher().isHeldBack() && waited.compareTo(LONGEST) < 0;
    if (behind && !oldLost) {
      // What the old bus has is the application's to take, however slowly; it has left for the
      // rest.
      waited = waited.plus(UNDO);
      deadline = schedule(UNDO, this::waitNoMore);
    } else if (targetLost) {
      comeBack();
    } else {
      oldEnded();
    }
  }

  /** Nothing was taken from the old bus; what the new one has for groups nobody else has. */
  private void undo(String reason) {
    why = reason;
    Link link = target.link();
    parts.outbox().stay();
    parts.barriers().forget();
    cancel(pause);
    if (!hasGroups || link == null || served.isEmpty()) {
      stay();
      return;
    }
    phase = Phase.UNDOING;
    locked(() -> parts.dispatcher().holdGroupsOnly());
    link.readOn();
    undrained.addAll(served);
    target.send(served.stream().map(SubscriptionState::unsubscribeFrame).toList());
    pause = schedule(UNDO, this::stay);
  }

  @Override
  public void drained(long subscription) {
    conductor.execute(
        () -> {
          if (undrained.remove(subscription) && undrained.isEmpty() && phase == Phase.UNDOING) {
            stay();
          }
        });
  }

  private void stay() {
    if (phase == Phase.OVER) {
      return;
    }
    boolean begun = phase != Phase.CONNECTING;
    end();
    target.drop();
    if (begun) {
      parts.outbox().stay();
      locked(() -> parts.dispatcher().release(false));
      parts.subscriptions().stayed();
    }
    home.stayed(target.url(), why);
  }

  /** The new bus is lost after the old one was left: what it had is lost with it. */
  private void comeBack() {
    Transport.Channel channel = old.channel();
    end();
    target.drop();
    locked(() -> parts.dispatcher().release(true));
    parts.dispatcher().readFrom(old);
    if (sendingMoved && channel != null) {
      traffic.resume(null, channel);
    } else {
      parts.outbox().stay();
    }
    parts.subscriptions().cameBack();
    home.stayed(target.url(), why);
  }

  /**
   * The old connection has ended, or is not waited for any more.
   *
   * @return true if the client goes on over the new one; if not, the move is over
   */
  boolean oldEnded() {
    boolean ready = phase == Phase.SUBSCRIBING || phase == Phase.FLUSHING || phase == Phase.LEAVING;
    if (!ready || targetLost) {
      abandon();
      return false;
    }
    if (!oldLost) {
      oldLost = true;
      phase = Phase.LEAVING;
      parts.barriers().forget();
      cancel(pause);
      old.abandon();
      locked(this::release);
      receivingMoved = true;
      if (sendingMoved) {
        complete();
      } else {
        traffic.lose();
        target.whenSent(this::moveSending);
      }
    }
    return true;
  }

  /** The client is closed, or has lost both connections. */
  void abandon() {
    if (phase != Phase.OVER) {
      end();
      target.drop();
      locked(() -> parts.dispatcher().release(true));
    }
  }
}
