package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.RequestOptions;
import io.eventbus.protocol.CallFrames;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurationText;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Request of this client: waits, is sent, is perhaps sent again, and has its result. Its lock is
 * the innermost of all, because it writes itself under the lock of its queue.
 */
final class RequestCall implements CallFrame {
  /** Bytes that a request takes in memory beside its event. */
  static final int OVERHEAD = 256;

  /**
   * Time beyond the deadline for which the bus's answer is waited for, which says whether the
   * request was executed.
   */
  private static final long VERDICT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  final long number;
  final String service;
  final RequestOptions options;
  final CallResult outcome;
  final long deadline;
  private final CallScope scope;
  final CallKind kind;
  private final long limit;
  private final byte[] serviceBytes;
  private final byte[] method;
  private final AtomicLong usedBytes;

  private RequestState state = RequestState.WAITING;
  // Null when it will not be sent again.
  private @Nullable Body body;
  private int charged;
  private int attempt;
  private int repetitions;
  // Set once a connection or a member with it was lost.
  private boolean maybeExecuted;
  private CallFrames.@Nullable RequestHead head;
  private @Nullable CallPath over;
  private Runnable pause = () -> {};

  /** Creates a request, which has been charged to a usedBytes. */
  RequestCall(
      CallKind kind,
      long limit,
      long number,
      String service,
      CallScope scope,
      RequestOptions options,
      Body body,
      CallResult outcome,
      long deadline,
      AtomicLong usedBytes) {
    this.kind = kind;
    this.limit = limit;
    this.number = number;
    this.service = service;
    this.scope = scope;
    this.options = options;
    this.outcome = outcome;
    this.deadline = deadline;
    this.serviceBytes = service.getBytes(StandardCharsets.UTF_8);
    this.method = options.method().getBytes(StandardCharsets.UTF_8);
    this.body = body;
    this.charged = cost(body);
    this.usedBytes = usedBytes;
  }

  static int cost(Body body) {
    return body.bytes() + OVERHEAD;
  }

  private void become(RequestState next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("call: " + state + " -> " + next + " (not in the table)");
    }
    state = next;
  }

  private void releaseBody() {
    body = null;
    head = null;
    usedBytes.addAndGet(-charged);
    charged = 0;
  }

  private boolean isRetryable() {
    return options.idempotent() || options.retry() == null || options.retryPolicy().attempts() > 1;
  }

  // ---- Outbound

  @Override
  public @Nullable CallPath path() {
    return null;
  }

  @Override
  public synchronized int cost() {
    return charged;
  }

  @Override
  public synchronized int size(long nowNanos) {
    Body sent = body;
    long left = deadline - nowNanos;
    if (state != RequestState.WAITING || sent == null || left <= 0) {
      return 0;
    }
    CallFrames.RequestHead made =
        new CallFrames.RequestHead(
            kind,
            limit,
            number,
            serviceBytes,
            method,
            scope,
            CallPriority.valueOf(options.priority().name()),
            millis(left),
            (int) Math.min(options.waitFor().toMillis(), millis(left)),
            options.idempotent(),
            attempt,
            options.member(),
            sent.fingerprint());
    head = made;
    return made.size(sent.bytes());
  }

  private static int millis(long nanos) {
    return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  @Override
  public synchronized boolean write(ByteBuffer out, CallPath connection) {
    Body sent = body;
    CallFrames.RequestHead made = head;
    if (state != RequestState.WAITING || sent == null || made == null) {
      return false;
    }
    made.write(out, sent.bytes());
    sent.write(out);
    made.writeEnd(out);
    become(RequestState.SENT);
    over = connection;
    if (!isRetryable()) {
      releaseBody();
    }
    return true;
  }

  // ---- Results: each method returns whether it was this that settled the call

  private void end() {
    become(RequestState.DONE);
    pause.run();
    releaseBody();
  }

  /** Handles an answer over a connection. */
  synchronized boolean answered(CallPath connection) {
    if (state != RequestState.SENT || over != connection) {
      // Late, or of a connection that has been given up.
      return false;
    }
    end();
    return true;
  }

  synchronized boolean isSentOver(CallPath connection) {
    return state == RequestState.SENT && over == connection;
  }

  synchronized boolean isWaiting() {
    return state == RequestState.WAITING;
  }

  /** Returns the size of its event in a message of a bus; 0 if it will not be sent again. */
  synchronized int bodyBytes() {
    Body sent = body;
    return sent == null ? 0 : sent.bytes();
  }

  /**
   * Handles a failure. Returns the delay in nanoseconds after which it is to be sent again, or -1
   * if this is the result; {@link #pausing} has to follow after a delay.
   */
  synchronized long failed(CallPath connection, CallFailed failure, double random, long now) {
    if (state != RequestState.SENT || over != connection) {
      return NOT_CONCERNED;
    }
    boolean mayHelp =
        failure.retryable()
            && !(failure instanceof CallFailed.DeadlineExceeded)
            && !(failure instanceof CallFailed.Cancelled);
    // Refused, with a time after which another attempt is worth it: as often as there is time.
    boolean wasRefused =
        options.retry() == null
            && failure.executed() == Execution.NO
            && !failure.retryAfter().isZero();
    if (mayHelp && (wasRefused || repetitions + 1 < options.retryPolicy().attempts())) {
      // The longer of both would bring all that were refused together back together.
      Duration delay =
          failure.retryAfter().plus(options.retryPolicy().delay(repetitions + 1, random));
      if (Duration.ofNanos(deadline - now).compareTo(delay) > 0) {
        repetitions++;
        attempt++;
        maybeExecuted |= failure.executed() != Execution.NO;
        become(RequestState.PAUSING);
        return delay.toNanos();
      }
    }
    end();
    return ENDED;
  }

  /** Result for a failure from a connection that is not this call's. */
  static final long NOT_CONCERNED = -2;

  static final long ENDED = -1;

  /** Sets the task that stops the pause. */
  void pausing(Runnable stop) {
    synchronized (this) {
      if (state == RequestState.PAUSING) {
        pause = stop;
        return;
      }
    }
    stop.run();
  }

  /** Ends the pause. */
  synchronized boolean resume() {
    if (state != RequestState.PAUSING) {
      return false;
    }
    become(RequestState.WAITING);
    return true;
  }

  /** Effect of a lost connection on a call. */
  enum Loss {
    /** No effect. */
    NONE,
    /** Another attempt. */
    AGAIN,
    /** End of the call. */
    ENDED
  }

  /** Handles a connection that is lost, or not waited for any longer. */
  synchronized Loss lost(CallPath connection, long now) {
    if (state != RequestState.SENT || over != connection) {
      return Loss.NONE;
    }
    over = null;
    if (options.idempotent() && deadline - now > 0) {
      attempt++;
      maybeExecuted = true;
      become(RequestState.WAITING);
      return Loss.AGAIN;
    }
    end();
    return Loss.ENDED;
  }

  EventBusException busLost() {
    return new CallFailed.BusLost(
        "the connection was lost before "
            + service
            + " answered: the request may or may not have been executed");
  }

  /** Returns the time of its next check. */
  synchronized long due() {
    return state == RequestState.SENT ? deadline + VERDICT_NANOS : deadline;
  }

  /** Ends it if its time is over; returns its failure, or null otherwise. */
  synchronized @Nullable CallFailed expire(long now) {
    if (state == RequestState.DONE || now - due() < 0) {
      return null;
    }
    Execution executed = execution();
    boolean sent = state == RequestState.SENT;
    end();
    return new CallFailed.DeadlineExceeded(
        service
            + " did not answer within "
            + DurationText.of(options.timeout())
            + (sent ? "" : ": the request was not sent in time"),
        executed,
        CallFailures.isSafe(executed, options.idempotent()));
  }

  /**
   * Returns the frame that tells the bus that this client has given up a stream or tunnel, which
   * may be open by now. Null if there is nothing to tell.
   */
  synchronized @Nullable CallFrame givenUp() {
    CallPath connection = over;
    return kind == CallKind.REPLY || connection == null
        ? null
        : new BytesFrame(connection, ControlFrames.encode(TypeCode.CANCEL, new Cancel(number, "")));
  }

  /** Returns the execution as far as it is known without an answer. */
  private Execution execution() {
    return state == RequestState.SENT || maybeExecuted ? Execution.UNKNOWN : Execution.NO;
  }

  /** End from this side: the failure, and the frame for the bus. */
  record Ended(CallFailed failure, @Nullable CallFrame cancel) {}

  /** Cancels it, because nobody waits for it any more; null if it has ended already. */
  synchronized @Nullable Ended cancel(String why) {
    if (state == RequestState.DONE) {
      return null;
    }
    Execution executed = execution();
    CallPath connection = state == RequestState.SENT ? over : null;
    end();
    return new Ended(
        new CallFailed.Cancelled(
            why, executed, CallFailures.isSafe(executed, options.idempotent())),
        connection == null
            ? null
            : new BytesFrame(
                connection, ControlFrames.encode(TypeCode.CANCEL, new Cancel(number, ""))));
  }

  /**
   * Ends it, because it cannot be sent; returns its known execution, or null if it has ended or is
   * with a bus.
   */
  synchronized @Nullable Execution unsendable() {
    if (state != RequestState.WAITING && state != RequestState.PAUSING) {
      return null;
    }
    Execution executed = execution();
    end();
    return executed;
  }

  /** Returns whether it may have been executed already, whatever becomes of it now. */
  synchronized boolean isMaybeExecuted() {
    return maybeExecuted;
  }
}
