package io.eventbus.client.internal.connection;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.UpgradeRefused;
import io.eventbus.client.internal.call.CallPath;
import io.eventbus.client.internal.durable.DurableConsumers;
import io.eventbus.client.internal.inbound.Dispatcher;
import io.eventbus.client.internal.inbound.HeldDeliveries;
import io.eventbus.client.internal.inbound.ReadGate;
import io.eventbus.client.internal.inbound.Subscriptions;
import io.eventbus.client.internal.outbound.Barriers;
import io.eventbus.client.internal.outbound.Outbox;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection to a bus: greets the bus, reads its frames and passes them on. Called by the
 * transport, one call at a time; tells its owner, who has a thread of its own, what happens to the
 * connection.
 */
public final class BusLink
    implements Transport.Listener, SilenceWatch.Line, ReadGate.Reader, FrameDispatcher.Source {
  private static final Logger LOG = LoggerFactory.getLogger(BusLink.class);

  // The protocol's default limit, which holds until a bus states its own.
  private static final int DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;

  // The highest limit that a bus can be configured with.
  private static final int MAX_MESSAGE_BYTES = 1 << 30;

  // Bytes that a delivery has around the events that a publisher sent.
  private static final int DELIVER_OVERHEAD = 128 * 1024;

  /** Listener of the connection; must not block. */
  interface Owner {
    /** Called when the bus has greeted this client. */
    void welcomed(BusLink link, Welcome welcome);

    /** Called when the connection has ended, or could not be made. */
    void ended(BusLink link, int code, String reason, @Nullable EventBusException failure);

    /** Called when the bus asks the client to move. */
    void changeBus(BusLink link, ChangeBus request);

    /**
     * Called when the bus has accepted a new token.
     *
     * @param expiresAt microseconds since the epoch; 0 for never
     */
    void renewed(BusLink link, long expiresAt);

    /** Called when the bus has refused a new token. */
    void notRenewed(BusLink link);
  }

  /** Receivers of the frames. */
  public record Parts(
      Outbox outbox,
      Subscriptions subscriptions,
      Dispatcher dispatcher,
      Barriers barriers,
      Counters counters,
      Notifier notifier,
      CallTraffic calls,
      DurableConsumers durable) {}

  final URI url;
  private final Hello hello;
  private final Parts parts;
  private final Owner owner;
  private final MicroClock clock;
  private final FrameCursor cursor = new FrameCursor();
  private final FrameDispatcher frames;
  private final CreditGate credit = new CreditGate();
  private volatile Transport.@Nullable Channel channel;
  private volatile boolean abandoned;
  private volatile boolean receiving;
  private volatile boolean paused;
  private volatile Transport.@Nullable Attempt attempt;
  private volatile long heardAt;
  private volatile @Nullable Runnable afterPong;
  private @Nullable EventBusException refusal;
  private boolean welcomed;
  private volatile Duration retryAfter = Duration.ZERO;

  BusLink(URI url, Hello hello, Parts parts, Owner owner, MicroClock clock) {
    this(url, hello, parts, owner, clock, null);
  }

  /**
   * Creates a second connection beside the client's first; its deliveries are held until it goes
   * live.
   */
  BusLink(
      URI url,
      Hello hello,
      Parts parts,
      Owner owner,
      MicroClock clock,
      FrameDispatcher.@Nullable Standby standby) {
    this.url = url;
    this.hello = hello;
    this.parts = parts;
    this.owner = owner;
    this.clock = clock;
    this.heardAt = clock.nanoTime();
    this.frames = new FrameDispatcher(url, parts, this, standby);
  }

  Transport.@Nullable Channel channel() {
    return channel;
  }

  /** Returns the maximum size of a message from a bus with the given limit. */
  public static int messageBytes(int limit) {
    return Math.max(DEFAULT_MESSAGE_BYTES, Math.min(MAX_MESSAGE_BYTES, limit)) + DELIVER_OVERHEAD;
  }

  /**
   * Returns the time that the server which refused the connection asks to wait; zero if it names
   * none.
   */
  Duration retryAfter() {
    return retryAfter;
  }

  /** Sets the attempt that this connection comes from. */
  void attempt(Transport.Attempt started) {
    attempt = started;
    if (abandoned) {
      started.cancel();
    }
  }

  /** Ignores what still comes from this connection: it is too late to settle anything. */
  void abandon() {
    abandoned = true;
  }

  /** Closes the socket, now or as soon as there is one. Any thread. */
  void abort() {
    abandoned = true;
    Transport.Channel open = channel;
    Transport.Attempt started = attempt;
    if (open != null) {
      open.abort();
    } else if (started != null) {
      started.cancel();
    }
  }

  @Override
  public void pause() {
    paused = true;
    Transport.Channel open = channel;
    if (open != null) {
      open.pauseReading();
    }
  }

  /**
   * Grants no credit, which only {@link #resume} does, and stops reading if events come beyond the
   * credit. With credit the bus stops by itself, and answers come all the same.
   */
  @Override
  public void stall() {
    if (credit.isBeyond()) {
      pause();
    }
  }

  @Override
  public void resume() {
    resumeReading();
    long room = Math.max(CreditGate.MIN_GRANT_BYTES, parts.subscriptions().room());
    if (!abandoned && credit.isDue(room)) {
      grant(credit.next(room));
    }
  }

  @Override
  public void tooSlow(String why) {
    Transport.Channel open = channel;
    if (abandoned || open == null) {
      return;
    }
    abandoned = true;
    int code = CloseReason.SLOW_CONSUMER.code();
    owner.ended(this, code, why, null);
    open.close(code, CloseReason.fit(why));
  }

  private void grant(long limit) {
    if (channel == null || !credit.raise(limit)) {
      return;
    }
    Credit grant = new Credit(0L, limit, credit.received(), 0L);
    send(ControlFrames.encode(TypeCode.CREDIT, grant));
  }

  @Override
  public void send(byte[] frame) {
    Transport.Channel open = channel;
    if (open == null) {
      return;
    }
    open.send(
        ByteBuffer.wrap(frame),
        failure -> {
          if (failure != null) {
            LOG.debug("a frame was not sent to {}", url, failure);
            open.abort();
          }
        });
  }

  @Override
  public void delivered(long bytes, int last) {
    if (credit.received(bytes, last)) {
      parts.dispatcher().look(this);
    }
  }

  @Override
  public void creditUnknown() {
    credit.refused();
    parts.dispatcher().look(this);
  }

  /**
   * Limits by credit what is held of this connection, which is not the client's only one yet. Not
   * to be called before the bus has confirmed all subscriptions: a bus that does not know of credit
   * would read it as a sign that the client stays.
   */
  void limitByCredit() {
    grant(HeldDeliveries.CREDIT_BYTES);
  }

  /** Grants unlimited credit before the connection ends. */
  void grantUnlimited() {
    resumeReading();
    grant(Long.MAX_VALUE);
  }

  @Override
  public @Nullable CallPath path() {
    return channel;
  }

  @Override
  public boolean isAbandoned() {
    return abandoned;
  }

  @Override
  public void refused(EventBusException why) {
    refusal = why;
  }

  @Override
  public void changeBus(ChangeBus request) {
    owner.changeBus(this, request);
  }

  @Override
  public void renewed(long expiresAt) {
    owner.renewed(this, expiresAt);
  }

  @Override
  public void notRenewed() {
    owner.notRenewed(this);
  }

  /** Presents a new token to the bus. Any thread. */
  void authenticate(String token) {
    send(ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate(token, null)));
  }

  /**
   * Hands on what this connection brings, instead of what the other brings. Under the dispatcher's
   * lock.
   */
  void goLive() {
    frames.goLive();
    resumeReading();
    parts.dispatcher().readFrom(this);
  }

  /** Resumes reading if it was stopped. */
  private void resumeReading() {
    if (!paused) {
      return;
    }
    // In this order, or the silence watch could mistake the pause for silence.
    heardAt = clock.nanoTime();
    paused = false;
    Transport.Channel open = channel;
    if (open != null) {
      open.resumeReading();
    }
  }

  /** Returns whether nothing is read, so that no answer is seen. */
  boolean isPaused() {
    return paused;
  }

  @Override
  public boolean isReceiving() {
    return receiving || paused;
  }

  @Override
  public long heardAt() {
    return heardAt;
  }

  /** Returns the time when the bus was last heard from, in microseconds since the epoch. */
  long heardAtMicros() {
    return clock.epochMicros() - (clock.nanoTime() - heardAt) / 1_000;
  }

  @Override
  public void ping() {
    Transport.Channel open = channel;
    if (open != null) {
      open.ping();
    }
  }

  /** Sets a task that runs once with the next Pong, on the connection's thread; must not block. */
  void whenPong(Runnable task) {
    afterPong = task;
  }

  @Override
  public void onPong() {
    heardAt = clock.nanoTime();
    Runnable task = afterPong;
    if (task != null) {
      afterPong = null;
      task.run();
    }
  }

  @Override
  public void onOpen(Transport.Channel opened) {
    heardAt = clock.nanoTime();
    channel = opened;
    if (abandoned) {
      opened.abort();
      return;
    }
    opened.send(
        ByteBuffer.wrap(ControlFrames.encode(TypeCode.HELLO, hello)),
        failure -> {
          if (failure != null) {
            LOG.debug("Hello was not sent to {}", url, failure);
            opened.abort();
          }
        });
  }

  @Override
  public void onFailed(Throwable failure) {
    String what = "no connection to " + url + ": " + failure.getMessage();
    if (failure instanceof UpgradeRefused refused) {
      retryAfter = refused.retryAfter();
    }
    if (failure instanceof UpgradeRefused refused && refused.isRefusal()) {
      // The listener of a client that ends with it is told only the reason.
      owner.ended(
          this,
          1006,
          what,
          new EventBusException.Refused(error(refused.status()), what, !refused.isFinal()));
    } else {
      owner.ended(
          this,
          1006,
          String.valueOf(failure.getMessage()),
          new EventBusException.NotConnected(what, failure));
    }
  }

  private static ErrorCode error(int status) {
    return switch (status) {
      case 401 -> ErrorCode.UNAUTHENTICATED;
      case 403 -> ErrorCode.FORBIDDEN;
      default -> ErrorCode.UNSUPPORTED;
    };
  }

  @Override
  public void onClosed(int code, String reason) {
    parts.durable().lost(this);
    EventBusException why = refusal;
    owner.ended(this, code, reason, why != null ? why : verdict(code, reason));
  }

  /** Returns the reason why a client must not reconnect after a close code; null if it may. */
  private @Nullable EventBusException verdict(int code, String reason) {
    if (CloseReason.mayReconnect(code) || code == CloseReason.NORMAL.code()) {
      return null;
    }
    CloseReason known = CloseReason.of(code);
    ErrorCode error =
        switch (known == null ? CloseReason.UNSUPPORTED : known) {
          case UNAUTHENTICATED -> ErrorCode.UNAUTHENTICATED;
          case FORBIDDEN -> ErrorCode.FORBIDDEN;
          case REPLACED -> ErrorCode.REPLACED;
          case MALFORMED -> ErrorCode.MALFORMED;
          case TOO_BIG -> ErrorCode.TOO_BIG;
          case PROTOCOL_ERROR, UNSUPPORTED_DATA -> ErrorCode.PROTOCOL_VIOLATION;
          default -> ErrorCode.UNSUPPORTED;
        };
    return new EventBusException.Refused(
        error, url + " closed with " + code + ": " + reason, false);
  }

  @Override
  public void onMessage(ByteBuffer message) {
    receiving = true;
    try {
      if (welcomed) {
        frames.read(message, message.position(), message.limit());
      } else {
        greet(message);
      }
    } catch (MalformedFrameException e) {
      LOG.warn("{} sent a frame that is malformed: {}", url, e.getMessage());
      refusal =
          new EventBusException.Refused(
              ErrorCode.MALFORMED, "the bus sent: " + e.getMessage(), true);
      Transport.Channel open = channel;
      if (open != null) {
        open.close(CloseReason.MALFORMED.code(), CloseReason.fit(String.valueOf(e.getMessage())));
      }
    } finally {
      heardAt = clock.nanoTime();
      receiving = false;
    }
  }

  private void greet(ByteBuffer message) {
    cursor.wrap(message, message.position(), message.limit());
    if (!cursor.next()) {
      return;
    }
    TypeCode type = TypeCode.of(cursor.typeCode());
    if (type == TypeCode.PROBLEM) {
      refusal =
          FrameDispatcher.refused(
              ControlFrames.problem(message, cursor.bodyStart(), cursor.bodyEnd()));
    } else if (type == TypeCode.WELCOME) {
      Welcome welcome = ControlFrames.welcome(message, cursor.bodyStart(), cursor.bodyEnd());
      welcomed = true;
      frames.producer(welcome.getProducer());
      Transport.Channel open = channel;
      if (open != null) {
        open.acceptMessages(messageBytes(welcome.getLimits().getMessageBytes()));
      }
      int next = cursor.bodyEnd();
      if (!frames.isStandby()) {
        // Before the first Subscribe, so that it holds for all deliveries.
        grant(
            parts.dispatcher().isStalled()
                ? 0
                : Math.max(CreditGate.MIN_GRANT_BYTES, parts.subscriptions().room()));
      }
      owner.welcomed(this, welcome);
      if (!abandoned && !frames.isStandby()) {
        parts.dispatcher().readFrom(this);
      }
      frames.read(message, next, message.limit());
    } else {
      refusal =
          new EventBusException.Refused(
              ErrorCode.PROTOCOL_VIOLATION,
              url + " began with frame type " + cursor.typeCode() + " (expected: Welcome)",
              false);
      abort();
    }
  }
}
