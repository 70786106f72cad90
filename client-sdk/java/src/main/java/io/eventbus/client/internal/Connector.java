package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ClientState;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener.DropCause;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.protocol.CloseReason;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection's state machine: connects, reconnects, gives up. Confined to the conductor; what
 * others may read is volatile.
 */
final class Connector implements Link.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);

  /** A connection that ends sooner does not count as a success. */
  private static final long HELD_NANOS = Duration.ofSeconds(5).toNanos();

  private static final String AGENT = "eventbus-java/0.1.0";

  private final ClientOptions options;
  private final Transport transport;
  private final Scheduler conductor;
  private final DoubleSupplier random;
  private final MicroClock clock;
  private final Link.Parts parts;
  private final Sender sender;
  private final EventEncoder encoder;
  private final Runnable onClosed;
  private final CompletableFuture<Void> firstConnection = new CompletableFuture<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final Deque<URI> preferred = new ArrayDeque<>();

  private volatile ClientState state = ClientState.NEW;
  private volatile @Nullable ConnectionInfo connection;

  private @Nullable Link current;
  private Scheduler.@Nullable Timer timer;
  private @Nullable SilenceWatch watch;
  private @Nullable String resume;
  private long producer;
  private int nextUrl;
  private int attempt;
  private boolean welcomed;
  private long welcomedAt;
  private long firstDeadline;

  /** What a connector needs beside the options. */
  record Environment(
      Transport transport,
      Scheduler conductor,
      DoubleSupplier random,
      MicroClock clock,
      Link.Parts parts,
      Sender sender,
      EventEncoder encoder) {}

  Connector(ClientOptions options, Environment environment, Runnable onClosed) {
    this.options = options;
    this.transport = environment.transport();
    this.conductor = environment.conductor();
    this.random = environment.random();
    this.clock = environment.clock();
    this.parts = environment.parts();
    this.sender = environment.sender();
    this.encoder = environment.encoder();
    this.onClosed = onClosed;
  }

  // ---- For any thread

  CompletableFuture<Void> start() {
    conductor.execute(
        () -> {
          become(ClientState.CONNECTING);
          firstDeadline = clock.nanoTime() + options.connection().connectTimeout().toNanos();
          connect();
        });
    return firstConnection;
  }

  ClientState state() {
    return state;
  }

  @Nullable ConnectionInfo connection() {
    return connection;
  }

  /** Lets what is buffered go out; the application publishes no more. */
  void drain() {
    conductor.execute(
        () -> {
          if (state == ClientState.CONNECTED || state == ClientState.RECONNECTING) {
            become(ClientState.DRAINING);
          }
        });
  }

  /** Completes when the client is closed. */
  CompletableFuture<Void> closed() {
    return closed;
  }

  /** Closes the connection in good order, and the client with it. */
  void closeSoon() {
    conductor.execute(
        () -> {
          Link link = current;
          Transport.Channel channel = link == null ? null : link.channel();
          if (state != ClientState.CLOSED && channel != null && connection != null) {
            sender.use(null);
            channel.close(CloseReason.NORMAL.code(), "the client is closed");
          }
          finish(new EventBusException.Closed("the client is closed"));
        });
  }

  // ---- Told by links, on their threads

  @Override
  public void welcomed(Link link, Welcome welcome) {
    conductor.execute(() -> onWelcome(link, welcome));
  }

  @Override
  public void ended(Link link, int code, String reason, @Nullable EventBusException failure) {
    conductor.execute(() -> onEnd(link, code, reason, failure));
  }

  @Override
  public void changeBus(List<String> urls) {
    conductor.execute(
        () -> {
          preferred.clear();
          for (String url : urls) {
            try {
              URI uri = URI.create(url);
              if ("ws".equals(uri.getScheme()) || "wss".equals(uri.getScheme())) {
                preferred.addLast(uri);
              }
            } catch (IllegalArgumentException e) {
              LOG.debug("the bus named an address that is none: {}", url, e);
            }
          }
        });
  }

  // ---- On the conductor

  private void become(ClientState next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("state: " + state + " -> " + next + " (not in the table)");
    }
    LOG.debug("{}: {} -> {}", options.name(), state, next);
    state = next;
  }

  private URI takeUrl() {
    URI first = preferred.pollFirst();
    return first != null ? first : options.urls().get(nextUrl++ % options.urls().size());
  }

  private void connect() {
    connectTo(takeUrl());
  }

  private void connectTo(URI url) {
    Duration timeout = options.connection().connectTimeout();
    if (!firstConnection.isDone()) {
      long left = firstDeadline - clock.nanoTime();
      int urlsLeft = Math.max(1, options.urls().size() - nextUrl + 1);
      timeout = Duration.ofNanos(Math.max(1_000_000, left / urlsLeft));
    }
    Hello hello = new Hello(options.name(), AGENT, options.token(), resume, options.attributes());
    Link link = new Link(url, hello, parts, this, clock);
    current = link;
    welcomed = false;
    Duration patience = timeout;
    timer =
        conductor.schedule(
            () -> {
              if (current == link && !welcomed) {
                link.abort();
                onEnd(
                    link,
                    1006,
                    "no answer within " + patience,
                    new EventBusException.TimedOut(url + " did not answer within " + patience));
              }
            },
            patience.toNanos());
    link.attempt(transport.connect(url, link));
  }

  private void onWelcome(Link link, Welcome welcome) {
    Transport.Channel channel = link.channel();
    if (link != current || channel == null) {
      link.abort();
      return;
    }
    cancelTimers();
    welcomed = true;
    welcomedAt = clock.nanoTime();
    watch(link);
    long before = producer;
    producer = welcome.getProducer();
    resume = welcome.getResume();
    encoder.limit(welcome.getLimits());
    parts.outbox().limitMessages(encoder.messageBytes());
    ConnectionInfo info =
        new ConnectionInfo(link.url, welcome.getBus(), welcome.getSession(), producer);
    connection = info;
    preferred.clear();
    if (before != 0 && before != producer) {
      parts.outbox().resequence();
      long now = producer;
      parts.notifier().tell(listener -> listener.producerChanged(before, now));
    }
    parts.outbox().connected();
    parts.subscriptions().connected();
    parts.barriers().connected();
    sender.use(channel);
    if (state == ClientState.RECONNECTING) {
      parts.counters().reconnects.increment();
    }
    if (state != ClientState.DRAINING) {
      become(ClientState.CONNECTED);
    }
    parts.notifier().tell(listener -> listener.connected(info));
    parts.notifier().complete(() -> firstConnection.complete(null));
  }

  private void watch(Link link) {
    Duration patience = options.connection().silenceTimeout();
    SilenceWatch started =
        new SilenceWatch(
            patience,
            clock,
            conductor,
            link,
            () -> {
              LOG.warn("{}: nothing heard of {} for {}", options.name(), link.url, patience);
              link.abort();
              onEnd(link, 1006, "nothing heard for " + patience, null);
            });
    watch = started;
    started.start();
  }

  private void cancelTimers() {
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

  private void onEnd(Link link, int code, String reason, @Nullable EventBusException failure) {
    if (link != current || state == ClientState.CLOSED) {
      return;
    }
    cancelTimers();
    link.abandon();
    current = null;
    if (connection != null) {
      disconnect();
    }
    if (welcomed && clock.nanoTime() - welcomedAt >= HELD_NANOS) {
      attempt = 0;
    }
    if (state == ClientState.CONNECTING) {
      firstFailure(failure, link.url + " closed with " + code + " " + reason);
      return;
    }
    boolean again = mayRetry(code, failure);
    if (welcomed || !again) {
      LOG.debug("{}: connection to {} ended: {} {}", options.name(), link.url, code, reason);
      parts.notifier().tell(listener -> listener.disconnected(code, reason, again));
    }
    welcomed = false;
    if (again) {
      retryLater();
    } else {
      finish(
          failure != null
              ? failure
              : new EventBusException.ConnectionLost(
                  "the connection to " + link.url + " ended with " + code + " " + reason));
    }
  }

  private void disconnect() {
    connection = null;
    sender.use(null);
    long unknown = parts.outbox().disconnected();
    parts.subscriptions().disconnected();
    if (unknown > 0) {
      parts.notifier().tell(listener -> listener.dropped(unknown, DropCause.CONNECTION_LOST));
    }
  }

  private boolean mayRetry(int code, @Nullable EventBusException failure) {
    ReconnectPolicy policy = options.connection().reconnect();
    boolean verdict =
        !CloseReason.mayReconnect(code)
            || (code == 1006
                && failure instanceof EventBusException.Refused refused
                && !refused.retryable());
    return !verdict && attempt < policy.maxAttempts();
  }

  private void firstFailure(@Nullable EventBusException failure, String what) {
    EventBusException cause =
        failure != null ? failure : new EventBusException.NotConnected(what, null);
    boolean verdict = cause instanceof EventBusException.Refused refused && !refused.retryable();
    if (!verdict && nextUrl < options.urls().size() && firstDeadline - clock.nanoTime() > 0) {
      connect();
    } else {
      finish(cause);
    }
  }

  private void retryLater() {
    if (state == ClientState.CONNECTED) {
      become(ClientState.RECONNECTING);
    }
    attempt++;
    URI url = takeUrl();
    Duration delay = options.connection().reconnect().delay(attempt, random.getAsDouble());
    int number = attempt;
    parts.notifier().tell(listener -> listener.reconnecting(number, url, delay));
    timer = conductor.schedule(() -> connectTo(url), delay.toNanos());
  }

  private void finish(EventBusException reason) {
    if (state == ClientState.CLOSED) {
      return;
    }
    cancelTimers();
    Link link = current;
    current = null;
    if (connection != null) {
      disconnect();
    } else if (link != null) {
      link.abort();
    }
    become(ClientState.CLOSED);
    parts.outbox().close();
    Outbox.Remains remains = parts.outbox().abandon();
    EventBusException lost =
        new EventBusException.ConnectionLost(
            "the client was closed before the bus confirmed: " + reason.getMessage());
    EventBusException unsent =
        new EventBusException.Closed(
            "the client was closed before the event was sent: " + reason.getMessage());
    parts
        .notifier()
        .complete(
            () -> {
              remains.sent().forEach(frame -> frame.fail(lost));
              remains.unsent().forEach(frame -> frame.fail(unsent));
            });
    if (remains.plainUnsent() > 0) {
      parts.notifier().tell(listener -> listener.dropped(remains.plainUnsent(), DropCause.CLOSED));
    }
    parts.barriers().close(new EventBusException.Closed("the client is closed"));
    parts.subscriptions().abandon();
    parts.notifier().complete(() -> firstConnection.completeExceptionally(reason));
    sender.stop();
    onClosed.run();
    closed.complete(null);
  }
}
