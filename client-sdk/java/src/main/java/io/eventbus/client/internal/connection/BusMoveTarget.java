package io.eventbus.client.internal.connection;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.outbound.StandbyWriter;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.DurationText;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * New connection of a {@link BusMove}: tries the addresses in turn until a bus welcomes this
 * client, and watches the connection from then on. Confined to the conductor, except for what links
 * call.
 */
final class BusMoveTarget implements BusLink.Owner {
  /** Listener of the connection; called on the conductor. */
  interface Listener {
    /** Called when a bus has welcomed this client. */
    void ready();

    /** Called when no address has led to a bus that accepts this client. */
    void unreachable(String why);

    /** Called when the connection that was ready has ended. */
    void lost(String why);
  }

  /** Final owner of the connection; called on the conductor. */
  interface Heir {
    /** Called when a connection that was handed over has ended. */
    void ended(BusLink link, int code, String reason, @Nullable EventBusException failure);

    /** Called when its bus asks to move, with the time of the clock at which it asked. */
    void onChangeBus(BusLink link, ChangeBus request, long heardNanos);

    /** Called when its bus has accepted a new token. Any thread. */
    void renewed(BusLink link, long expiresAt);

    /** Called when its bus has refused a new token. Any thread. */
    void notRenewed(BusLink link);
  }

  /** Request to move that the bus has made already. */
  private record Next(ChangeBus request, long heardNanos) {}

  private final ClientOptions options;
  private final Connector.Environment environment;
  private final FrameDispatcher.Standby standby;
  private final Listener listener;
  private final Heir heir;
  private final Hello hello;
  private final long producer;
  private final Deque<URI> urls;

  private URI url;
  private String why = "none of its addresses can be used";
  private @Nullable BusLink link;
  private volatile @Nullable Ready ready;
  // The sending thread uses it, too.
  private volatile @Nullable StandbyWriter writer;
  private @Nullable SilenceWatch watch;
  private @Nullable Next next;
  private Scheduler.@Nullable Timer connecting;
  private boolean handedOver;
  private boolean over;

  /**
   * Creates a target; {@link #connect} begins.
   *
   * @param urls where to, at least one
   * @param producer the client's number, which it must keep
   */
  BusMoveTarget(
      ClientOptions options,
      Connector.Environment environment,
      Parts parts,
      List<URI> urls,
      Hello hello,
      long producer) {
    this.options = options;
    this.environment = environment;
    this.standby = parts.standby();
    this.listener = parts.listener();
    this.heir = parts.heir();
    this.urls = new ArrayDeque<>(urls);
    this.url = urls.get(0);
    this.hello = hello;
    this.producer = producer;
  }

  /** Users of the connection. */
  record Parts(FrameDispatcher.Standby standby, Listener listener, Heir heir) {}

  /** Returns the address that was tried last. */
  URI url() {
    return url;
  }

  /** Connection over which a bus has welcomed this client, with its welcome. */
  record Ready(BusLink link, Transport.Channel channel, Welcome welcome) {}

  /**
   * Returns the connection, even if it has ended meanwhile.
   *
   * @throws IllegalStateException before {@link Listener#ready}
   */
  Ready ready() {
    Ready now = ready;
    if (now == null) {
      throw new IllegalStateException("no bus has welcomed this client yet");
    }
    return now;
  }

  /** Returns the connection that was ready; null if there was none. */
  Transport.@Nullable Channel channel() {
    Ready now = ready;
    return now == null ? null : now.channel();
  }

  /** Sends frames over the connection, once it is ready. */
  void send(Collection<byte[]> frames) {
    StandbyWriter sending = writer;
    if (sending != null) {
      sending.send(frames);
    }
  }

  /** Runs a task on the conductor when all of these have been sent. */
  void whenSent(Runnable task) {
    StandbyWriter sending = writer;
    if (sending != null) {
      sending.whenIdle(() -> environment.conductor().execute(task));
    }
  }

  void connect() {
    URI to = urls.poll();
    if (to == null) {
      over = true;
      listener.unreachable(why);
      return;
    }
    url = to;
    BusLink made = new BusLink(to, hello, environment.parts(), this, environment.clock(), standby);
    link = made;
    Duration timeout = options.connection().connectTimeout();
    connecting =
        environment
            .conductor()
            .schedule(
                () -> giveUp(made, "no answer within " + DurationText.of(timeout)),
                timeout.toNanos());
    made.attempt(environment.transport().connect(to, timeout, made));
  }

  private void giveUp(BusLink which, String reason) {
    which.abort();
    fail(which, reason);
  }

  @Override
  public void welcomed(BusLink by, Welcome said) {
    environment.conductor().execute(() -> onWelcome(by, said));
  }

  @Override
  public void ended(BusLink by, int code, String reason, @Nullable EventBusException failure) {
    environment.conductor().execute(() -> onEnd(by, code, reason, failure));
  }

  @Override
  public void changeBus(BusLink by, ChangeBus request) {
    long heardNanos = environment.clock().nanoTime();
    environment
        .conductor()
        .execute(
            () -> {
              if (handedOver) {
                heir.onChangeBus(by, request, heardNanos);
              } else {
                next = new Next(request, heardNanos);
              }
            });
  }

  @Override
  public void renewed(BusLink by, long expiresAt) {
    heir.renewed(by, expiresAt);
  }

  @Override
  public void notRenewed(BusLink by) {
    heir.notRenewed(by);
  }

  private void onWelcome(BusLink by, Welcome said) {
    Transport.Channel channel = by.channel();
    if (over || by != link || channel == null) {
      by.abort();
      return;
    }
    cancelTimer();
    String problem = problem(said);
    if (problem != null) {
      giveUp(by, problem);
      return;
    }
    ready = new Ready(by, channel, said);
    watch(by);
    writer = new StandbyWriter(channel, options.outbound().batchBytes());
    listener.ready();
  }

  private @Nullable String problem(Welcome said) {
    if (said.getProducer() != producer) {
      // Subscribers could not tell what they have seen.
      return "it knows this client as " + said.getProducer() + ", not as " + producer;
    }
    if (!environment.traffic().fits(said)) {
      return "it takes smaller events or messages than those that may be under way already";
    }
    return null;
  }

  private void watch(BusLink by) {
    Duration timeout = options.connection().silenceTimeout();
    SilenceWatch started =
        new SilenceWatch(
            timeout,
            environment.clock(),
            environment.conductor(),
            by,
            () -> giveUp(by, "nothing heard for " + DurationText.of(timeout)));
    watch = started;
    started.start();
  }

  private void onEnd(BusLink by, int code, String reason, @Nullable EventBusException failure) {
    if (handedOver) {
      heir.ended(by, code, reason, failure);
    } else {
      fail(by, failure != null ? String.valueOf(failure.getMessage()) : code + " " + reason);
    }
  }

  private void fail(BusLink by, String reason) {
    if (over || by != link) {
      return;
    }
    by.abandon();
    stopWatching();
    why = reason;
    if (ready == null) {
      connect();
    } else {
      over = true;
      listener.lost(why);
    }
  }

  private void cancelTimer() {
    Scheduler.Timer waiting = connecting;
    if (waiting != null) {
      waiting.cancel();
      connecting = null;
    }
  }

  private void stopWatching() {
    cancelTimer();
    SilenceWatch watching = watch;
    if (watching != null) {
      watching.stop();
      watch = null;
    }
  }

  /** Hands the connection over to its heir; {@link #passOn} has to follow. */
  void handOver() {
    stopWatching();
    handedOver = true;
  }

  /** Passes to the heir what the bus has asked for meanwhile. */
  void passOn() {
    BusLink by = link;
    Next then = next;
    if (by != null && then != null) {
      heir.onChangeBus(by, then.request(), then.heardNanos());
    }
  }

  /** Drops the connection, which is not needed. */
  void drop() {
    stopWatching();
    BusLink by = link;
    boolean ended = over;
    over = true;
    if (by == null || ended) {
      return;
    }
    by.abandon();
    Transport.Channel channel = by.channel();
    if (channel != null && ready != null) {
      channel.close(CloseReason.NORMAL.code(), "the client stays at its bus");
    } else {
      by.abort();
    }
  }
}
