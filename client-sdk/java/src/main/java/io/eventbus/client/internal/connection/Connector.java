package io.eventbus.client.internal.connection;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ClientState;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurationText;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State machine of the connection: connects, reconnects, gives up. Confined to the conductor; what
 * others may read is volatile.
 */
public final class Connector implements BusLink.Owner, BusMove.Home {
  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);

  /** Maximum length of the reason why this client stays. */
  private static final int MAX_REASON_CHARS = 500;

  private final ClientOptions options;
  private final Transport transport;
  private final Scheduler conductor;
  private final MicroClock clock;
  private final BusLink.Parts parts;
  private final ConnectionTraffic traffic;
  private final BusUrls addresses;
  private final ReconnectBackoff retries;
  private final TokenSource tokens;
  private final TokenRefresh refresh;
  private final MoveLimit moveLimit = new MoveLimit();
  private final Environment environment;
  private final Runnable onClosed;
  private final CompletableFuture<Void> firstConnection = new CompletableFuture<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  private volatile ClientState state = ClientState.NEW;
  private volatile @Nullable ConnectionInfo connection;
  private volatile @Nullable EventBusException endReason;

  private @Nullable BusLink current;
  private Scheduler.@Nullable Timer timer;
  private @Nullable SilenceWatch watch;
  private @Nullable String resume;
  private @Nullable String session;
  private boolean welcomed;
  // Since a connection last held: a token that the bus refuses may only be an old one.
  private boolean askedForAnother;
  private long welcomedAt;
  private long firstDeadline;
  private @Nullable BusMove move;
  // The link over which the bus has asked to move, while there is no token for that yet.
  private @Nullable BusLink askedToLeave;
  // The end of the connection that the client is about to leave.
  private @Nullable End oldEnd;
  private String moveToken = "";
  // Connections that the client has left, over which calls may still end.
  private final Set<Transport.Channel> left = new HashSet<>();

  private record End(int code, String reason, @Nullable EventBusException failure) {}

  /** Dependencies of a connector beside the options. */
  public record Environment(
      Transport transport,
      Scheduler conductor,
      DoubleSupplier random,
      MicroClock clock,
      BusLink.Parts parts,
      ConnectionTraffic traffic,
      Executor executor) {}

  public Connector(ClientOptions options, Environment environment, Runnable onClosed) {
    this.options = options;
    this.environment = environment;
    this.transport = environment.transport();
    this.conductor = environment.conductor();
    this.clock = environment.clock();
    this.parts = environment.parts();
    this.traffic = environment.traffic();
    this.addresses = new BusUrls(options.urls());
    this.retries = new ReconnectBackoff(options.connection().reconnect(), environment.random());
    this.tokens =
        new TokenSource(options.token(), options.tokens(), environment.executor(), conductor);
    this.refresh =
        new TokenRefresh(
            tokens, options.connection().connectTimeout(), environment, parts.notifier());
    this.onClosed = onClosed;
  }

  // ---- For any thread

  public CompletableFuture<Void> start() {
    conductor.execute(
        () -> {
          become(ClientState.CONNECTING);
          firstDeadline = clock.nanoTime() + options.connection().connectTimeout().toNanos();
          connect();
        });
    return firstConnection;
  }

  public ClientState state() {
    return state;
  }

  /**
   * Returns the failure of calls that come after the end; its cause is why the client has ended.
   */
  public EventBusException closedException() {
    return closed(endReason);
  }

  private static EventBusException closed(@Nullable EventBusException reason) {
    return reason == null || reason instanceof EventBusException.Closed
        ? new EventBusException.Closed("the client is closed")
        : new EventBusException.Closed("the client is closed: " + reason.getMessage(), reason);
  }

  public @Nullable ConnectionInfo connection() {
    return connection;
  }

  /** Sends what is buffered; the application publishes no more. */
  public void drain() {
    conductor.execute(
        () -> {
          if (state == ClientState.CONNECTED || state == ClientState.RECONNECTING) {
            become(ClientState.DRAINING);
          }
        });
  }

  /** Returns a stage that completes when the client is closed. */
  public CompletableFuture<Void> closed() {
    return closed;
  }

  /** Closes the connection in good order, and the client with it. */
  public void closeSoon() {
    conductor.execute(
        () -> {
          BusLink link = current;
          Transport.Channel channel = link == null ? null : link.channel();
          if (state != ClientState.CLOSED && channel != null && connection != null) {
            traffic.hold();
            channel.close(CloseReason.NORMAL.code(), "the client is closed");
          }
          finish(new EventBusException.Closed("the client is closed"));
        });
  }

  // ---- Called by links, on their threads

  @Override
  public void welcomed(BusLink link, Welcome welcome) {
    conductor.execute(() -> onWelcome(link, welcome));
  }

  @Override
  public void ended(BusLink link, int code, String reason, @Nullable EventBusException failure) {
    conductor.execute(() -> onEnd(link, code, reason, failure));
  }

  @Override
  public void changeBus(BusLink link, ChangeBus request) {
    long heardNanos = clock.nanoTime();
    conductor.execute(() -> onChangeBus(link, request, heardNanos));
  }

  @Override
  public void renewed(BusLink link, long expiresAt) {
    conductor.execute(() -> refresh.renewed(link, expiresAt));
  }

  @Override
  public void notRenewed(BusLink link) {
    conductor.execute(() -> refresh.refused(link));
  }

  // ---- On the conductor

  private void become(ClientState next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("state: " + state + " -> " + next + " (not in the table)");
    }
    LOG.debug("{}: {} -> {}", options.name(), state, next);
    state = next;
  }

  private void connect() {
    connectTo(addresses.next());
  }

  private void connectTo(URI url) {
    welcomed = false;
    tokens.ask(
        attemptTimeout(),
        new TokenSource.Taker() {
          @Override
          public void got(@Nullable String token) {
            if (state != ClientState.CLOSED) {
              open(url, token);
            }
          }

          @Override
          public void failed(EventBusException why) {
            if (state != ClientState.CLOSED) {
              onNoToken(why);
            }
          }
        });
  }

  /** Returns the timeout of one attempt. */
  private Duration attemptTimeout() {
    if (firstConnection.isDone()) {
      return options.connection().connectTimeout();
    }
    long left = firstDeadline - clock.nanoTime();
    // The present address, and those that come after it.
    int urlsLeft = addresses.configuredLeft() + 1;
    return Duration.ofNanos(Math.max(1_000_000, left / urlsLeft));
  }

  private void onNoToken(EventBusException why) {
    if (state == ClientState.CONNECTING) {
      firstFailure(why, "no token", Duration.ZERO);
      return;
    }
    parts.notifier().tell(listener -> listener.problem(why));
    if (retries.mayRetry(CloseReason.EXPIRED.code(), null)) {
      retryLater(Duration.ZERO);
    } else {
      finish(why);
    }
  }

  private void open(URI url, @Nullable String token) {
    BusLink link = new BusLink(url, hello(token, null), parts, this, clock);
    current = link;
    Duration timeout = attemptTimeout();
    timer =
        conductor.schedule(
            () -> {
              if (current == link && !welcomed) {
                link.abort();
                onEnd(
                    link,
                    1006,
                    "no answer within " + DurationText.of(timeout),
                    new EventBusException.TimedOut(
                        url + " did not answer within " + DurationText.of(timeout)));
              }
            },
            timeout.toNanos());
    link.attempt(transport.connect(url, timeout, link));
  }

  private Hello hello(@Nullable String token, @Nullable String tokenOfMove) {
    return new Hello(
        options.name(),
        Agent.NAME,
        token,
        resume,
        options.attributes(),
        tokenOfMove,
        options.user(),
        // During a move the connection before goes on.
        tokenOfMove == null ? session : null);
  }

  private void onWelcome(BusLink link, Welcome welcome) {
    Transport.Channel channel = link.channel();
    if (link != current || channel == null) {
      link.abort();
      return;
    }
    ConnectionInfo info = connected(link, welcome);
    traffic.begin(welcome, channel);
    if (state == ClientState.RECONNECTING) {
      parts.counters().reconnects.increment();
    }
    if (state != ClientState.DRAINING) {
      become(ClientState.CONNECTED);
    }
    parts.notifier().tell(listener -> listener.connected(info));
    parts.notifier().complete(() -> firstConnection.complete(null));
  }

  private ConnectionInfo connected(BusLink link, Welcome welcome) {
    cancelTimers();
    welcomed = true;
    welcomedAt = clock.nanoTime();
    watch(link);
    resume = welcome.getResume();
    session = welcome.getSession();
    addresses.welcomed(link.url, welcome.getOthers());
    refresh.begin(link, welcome.getExpiresAt());
    ConnectionInfo info =
        new ConnectionInfo(link.url, welcome.getBus(), welcome.getSession(), welcome.getProducer());
    connection = info;
    return info;
  }

  private void watch(BusLink link) {
    Duration timeout = options.connection().silenceTimeout();
    SilenceWatch started =
        new SilenceWatch(
            timeout,
            clock,
            conductor,
            link,
            () -> {
              LOG.warn("{}: nothing heard of {} for {}", options.name(), link.url, timeout);
              link.abort();
              onEnd(link, 1006, "nothing heard for " + DurationText.of(timeout), null);
            });
    watch = started;
    started.start();
  }

  private void cancelTimers() {
    refresh.end();
    Scheduler.Timer waiting = timer;
    if (waiting != null) {
      waiting.cancel();
      timer = null;
    }
    SilenceWatch watching = watch;
    if (watching != null) {
      watching.stop();
      watch = null;
    }
  }

  private void onEnd(BusLink link, int code, String reason, @Nullable EventBusException failure) {
    if (link != current || state == ClientState.CLOSED) {
      // The client may have left it while calls were still under way.
      parts.calls().lost(link.channel());
      return;
    }
    BusMove moving = move;
    if (moving != null) {
      oldEnd = new End(code, reason, failure);
      if (moving.oldEnded()) {
        LOG.debug("{}: connection to {} ended: {} {}", options.name(), link.url, code, reason);
        return;
      }
    }
    oldEnd = null;
    move = null;
    cancelTimers();
    link.abandon();
    current = null;
    if (connection != null) {
      connection = null;
      traffic.stop(link.heardAtMicros());
    }
    if (welcomed && retries.ended(clock.nanoTime() - welcomedAt)) {
      addresses.restart();
      askedForAnother = false;
    }
    boolean another =
        code == CloseReason.UNAUTHENTICATED.code() && tokens.hasNew() && !askedForAnother;
    askedForAnother |= another;
    if (state == ClientState.CONNECTING && another) {
      connectTo(link.url);
      return;
    }
    if (state == ClientState.CONNECTING) {
      firstFailure(failure, link.url + " closed with " + code + " " + reason, link.retryAfter());
      return;
    }
    boolean again = another || retries.mayRetry(code, failure);
    if (welcomed || !again) {
      LOG.debug("{}: connection to {} ended: {} {}", options.name(), link.url, code, reason);
      parts.notifier().tell(listener -> listener.disconnected(code, reason, again));
    }
    welcomed = false;
    if (again) {
      retryLater(link.retryAfter());
    } else {
      finish(
          failure != null
              ? failure
              : new EventBusException.ConnectionLost(
                  "the connection to " + link.url + " ended with " + code + " " + reason));
    }
  }

  private void firstFailure(@Nullable EventBusException failure, String what, Duration minDelay) {
    EventBusException cause =
        failure != null ? failure : new EventBusException.NotConnected(what, null);
    boolean inTime = firstDeadline - clock.nanoTime() > 0;
    if (ReconnectBackoff.isVerdict(cause) || !inTime) {
      finish(cause);
    } else if (addresses.configuredLeft() > 0) {
      connect();
    } else if (options.connection().reconnect().retryFirst()) {
      retryFirstLater(cause, minDelay);
    } else {
      finish(cause);
    }
  }

  private void retryFirstLater(EventBusException cause, Duration min) {
    Duration delay = retries.next(Duration.ofNanos(firstDeadline - clock.nanoTime()), min);
    if (delay == null) {
      finish(cause);
      return;
    }
    if (Long.bitCount(retries.number()) == 1) {
      LOG.info(
          "{}: not connected yet, trying again in {} ms: {}",
          options.name(),
          delay.toMillis(),
          cause.getMessage());
    }
    addresses.restart();
    timer = conductor.schedule(this::connect, delay.toNanos());
  }

  private void retryLater(Duration min) {
    if (state == ClientState.CONNECTED) {
      become(ClientState.RECONNECTING);
    }
    URI url = addresses.next();
    Duration planned = retries.next();
    Duration delay = planned.compareTo(min) > 0 ? planned : min;
    int number = retries.number();
    parts.notifier().tell(listener -> listener.reconnecting(number, url, delay));
    timer = conductor.schedule(() -> connectTo(url), delay.toNanos());
  }

  private void finish(EventBusException reason) {
    if (state == ClientState.CLOSED) {
      return;
    }
    cancelTimers();
    List.copyOf(left).forEach(this::closeLeft);
    BusMove moving = move;
    move = null;
    if (moving != null) {
      moving.abandon();
    }
    if (state == ClientState.CONNECTED || state == ClientState.RECONNECTING) {
      boolean asked = reason instanceof EventBusException.Closed;
      if (!asked) {
        // Whatever listener there is: an application that does not look would wait for ever.
        LOG.error(
            "{}: closed for good, make a new client when the cause is removed: {}",
            options.name(),
            reason.getMessage());
      }
    }
    BusLink link = current;
    current = null;
    // Before its connection is lost: the loss would fail the requests with another reason.
    parts.calls().calls().close(closed(reason));
    if (connection != null) {
      connection = null;
      traffic.stop(clock.epochMicros());
    } else if (link != null) {
      link.abort();
    }
    endReason = reason;
    become(ClientState.CLOSED);
    traffic.end(reason, closed(reason));
    parts.notifier().fail(() -> firstConnection.completeExceptionally(reason));
    parts.notifier().end();
    onClosed.run();
    closed.complete(null);
  }

  // ---- A move, on the conductor

  @Override
  public void onChangeBus(BusLink link, ChangeBus request, long heardNanos) {
    ConnectionInfo now = connection;
    if (link != current || now == null || state != ClientState.CONNECTED) {
      return;
    }
    if (move != null || askedToLeave == link) {
      refuseMove(request.getToken(), "a move is under way already");
      return;
    }
    List<URI> urls = addresses.move(link.url, request.getUrls());
    if (urls.isEmpty() || !moveLimit.tryAcquire(clock.nanoTime())) {
      addresses.stayed();
      refuseMove(
          request.getToken(),
          urls.isEmpty()
              ? "none of the addresses can be used"
              : "this client was moved "
                  + MoveLimit.MAX_PER_MINUTE
                  + " times within a minute already");
      return;
    }
    askedToLeave = link;
    tokens.ask(
        options.connection().connectTimeout(),
        new TokenSource.Taker() {
          @Override
          public void got(@Nullable String token) {
            if (stillLeaves(link)) {
              leave(link, request, heardNanos, urls, token);
            }
          }

          @Override
          public void failed(EventBusException why) {
            if (stillLeaves(link)) {
              moveToken = request.getToken();
              stayed(urls.get(0), String.valueOf(why.getMessage()));
            }
          }
        });
  }

  /** Returns whether a connection is still the client's and nothing else is to be done with it. */
  private boolean stillLeaves(BusLink link) {
    if (askedToLeave == link) {
      askedToLeave = null;
    }
    return link == current && connection != null && state == ClientState.CONNECTED;
  }

  private void leave(
      BusLink link, ChangeBus request, long heardNanos, List<URI> urls, @Nullable String token) {
    ConnectionInfo now = connection;
    if (now == null) {
      return;
    }
    moveToken = request.getToken();
    BusMove begun =
        new BusMove(
            options, environment, this, urls, hello(token, moveToken), link, now.producer());
    move = begun;
    LOG.debug("{}: going to {} ({})", options.name(), urls, request.getReason());
    begun.start(request.getDeadlineMillis(), clock.nanoTime() - heardNanos);
  }

  @Override
  public void moved(BusLink link, Welcome welcome, long until) {
    BusLink before = current;
    ConnectionInfo from = connection;
    boolean hasEnded = oldEnd != null;
    move = null;
    oldEnd = null;
    current = link;
    ConnectionInfo to = connected(link, welcome);
    parts.counters().busChanges.increment();
    Transport.Channel leaving = before == null ? null : before.channel();
    if (before != null) {
      before.abandon();
    }
    if (leaving != null && hasEnded) {
      parts.calls().lost(leaving);
    } else if (leaving != null) {
      left.add(leaving);
      parts.calls().leave(leaving, until, conductor, () -> closeLeft(leaving));
    }
    if (from != null) {
      parts.notifier().tell(listener -> listener.busChanged(from, to));
    }
  }

  /** Closes a connection that the client has left: its calls have ended or timed out. */
  private void closeLeft(Transport.Channel channel) {
    if (left.remove(channel)) {
      parts.calls().lost(channel);
      channel.close(CloseReason.NORMAL.code(), "the client goes on at another bus");
    }
  }

  @Override
  public void lostBoth(String why) {
    BusLink link = current;
    End end = oldEnd;
    move = null;
    if (link == null) {
      return;
    }
    // May still be open, if the old bus did not say in time that it has sent all.
    link.abort();
    if (end != null) {
      onEnd(link, end.code(), end.reason(), end.failure());
    } else {
      onEnd(link, 1006, "left, and the connection that was to follow is lost: " + why, null);
    }
  }

  @Override
  public void stayed(URI url, String why) {
    move = null;
    addresses.stayed();
    LOG.debug("{}: does not go to {}: {}", options.name(), url, why);
    refuseMove(moveToken, why);
    parts.notifier().tell(listener -> listener.busChangeFailed(url, why));
  }

  private void refuseMove(String token, String why) {
    String shown = why.length() > MAX_REASON_CHARS ? why.substring(0, MAX_REASON_CHARS) : why;
    parts
        .outbox()
        .addControl(
            ControlFrames.encode(TypeCode.CHANGE_BUS_FAILED, new ChangeBusFailed(token, shown)));
  }
}
