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
 * One request of this client: waits, is sent, is perhaps sent again, and has its outcome. Its lock
 * is the innermost of all, because it writes itself under the lock of what it waits in.
 */
final class RequestCall implements CallFrame {
  /** What a request takes in memory beside its bytes. */
  static final int OVERHEAD = 256;

  /** So much longer the verdict of the bus is waited for, which says whether it was executed. */
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
  private final AtomicLong budget;

  private RequestState state = RequestState.WAITING;
  // Null when it will not be sent again.
  private @Nullable Body body;
  private int charged;
  private int attempt;
  private int repetitions;
  // Once a connection or a member with it was lost.
  private boolean perhapsExecuted;
  private CallFrames.@Nullable RequestHead head;
  private @Nullable CallPath over;
  private Runnable pause = () -> {};

  /** Makes one, which has been charged to a budget. */
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
      AtomicLong budget) {
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
    this.budget = budget;
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

  private void letGoOfBody() {
    body = null;
    head = null;
    budget.addAndGet(-charged);
    charged = 0;
  }

  private boolean mayBeSentAgain() {
    return options.idempotent() || options.retry() == null || options.retryPolicy().attempts() > 1;
  }

  // ---- On its way out

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
    if (!mayBeSentAgain()) {
      letGoOfBody();
    }
    return true;
  }

  // ---- What comes of it: each says whether it was this that settled the call

  private void end() {
    become(RequestState.DONE);
    pause.run();
    letGoOfBody();
  }

  /** An answer has come over a connection. */
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

  /** How much its event takes in a message of a bus; 0 if it will not be sent again. */
  synchronized int bodyBytes() {
    Body sent = body;
    return sent == null ? 0 : sent.bytes();
  }

  /**
   * It has failed: says whether it is to be sent again, and after how long. {@link #pausing} has to
   * follow then.
   *
   * @return nanoseconds, or -1 if this is the outcome
   */
  synchronized long failed(CallPath connection, CallFailed failure, double random, long now) {
    if (state != RequestState.SENT || over != connection) {
      return NOT_CONCERNED;
    }
    boolean mayHelp =
        failure.retryable()
            && !(failure instanceof CallFailed.DeadlineExceeded)
            && !(failure instanceof CallFailed.Cancelled);
    // Refused, with a time at which another try is worth it: so often as there is time.
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
        perhapsExecuted |= failure.executed() != Execution.NO;
        become(RequestState.PAUSING);
        return delay.toNanos();
      }
    }
    end();
    return ENDED;
  }

  /** It was not this call's connection that told of a failure. */
  static final long NOT_CONCERNED = -2;

  static final long ENDED = -1;

  /** Sets what stops the pause. */
  void pausing(Runnable stop) {
    synchronized (this) {
      if (state == RequestState.PAUSING) {
        pause = stop;
        return;
      }
    }
    stop.run();
  }

  /** The pause is over. */
  synchronized boolean goesOn() {
    if (state != RequestState.PAUSING) {
      return false;
    }
    become(RequestState.WAITING);
    return true;
  }

  /** What a lost connection means for a call. */
  enum Loss {
    /** Nothing. */
    NONE,
    /** It is to be sent again. */
    AGAIN,
    /** It has ended. */
    ENDED
  }

  /** A connection is lost, or is not waited for any longer. */
  synchronized Loss lost(CallPath connection, long now) {
    if (state != RequestState.SENT || over != connection) {
      return Loss.NONE;
    }
    over = null;
    if (options.idempotent() && deadline - now > 0) {
      attempt++;
      perhapsExecuted = true;
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

  /** When it has to be looked at. */
  synchronized long due() {
    return state == RequestState.SENT ? deadline + VERDICT_NANOS : deadline;
  }

  /** Its time is over: returns what it ends with, or null if that is not so. */
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
   * What tells the bus that a stream or tunnel is not wanted any more, which this client has given
   * up by itself: it may be open by now. Null if there is nothing to tell.
   */
  synchronized @Nullable CallFrame givenUp() {
    CallPath connection = over;
    return kind == CallKind.REPLY || connection == null
        ? null
        : new BytesFrame(connection, ControlFrames.encode(TypeCode.CANCEL, new Cancel(number, "")));
  }

  /** What is known while there is no answer. */
  private Execution execution() {
    return state == RequestState.SENT || perhapsExecuted ? Execution.UNKNOWN : Execution.NO;
  }

  /** What ends it from this side: what it ends with, and what is to be said to the bus. */
  record Ended(CallFailed failure, @Nullable CallFrame cancel) {}

  /** Nobody waits for it any more; null if it has ended already. */
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

  /** It cannot be sent: returns what is known of it, or null if it has ended or is with a bus. */
  synchronized @Nullable Execution unsendable() {
    if (state != RequestState.WAITING && state != RequestState.PAUSING) {
      return null;
    }
    Execution executed = execution();
    end();
    return executed;
  }

  /** Whether it may have been executed already, whatever becomes of it now. */
  synchronized boolean isPerhapsExecuted() {
    return perhapsExecuted;
  }
}
