package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Answer of a member: an event, or a failure.
 *
 * @param body the event; null for a failure
 * @param failure null for an event
 */
record CallAnswer(@Nullable Body body, int handledMicros, @Nullable Failure failure) {
  /** Returns the answer for a request whose handler was not begun. */
  static CallAnswer notBegun(FailureCode code, String message) {
    return new CallAnswer(null, 0, CallFailures.of(code, message, Execution.NO));
  }

  /**
   * Returns the answer for the result of a handler's stage; a failure that the handler did not
   * intend is reported.
   */
  static CallAnswer of(
      CallHost host,
      ReceivedInvocation invocation,
      long begun,
      @Nullable Event event,
      @Nullable Throwable failure) {
    if (failure == null && event != null) {
      return of(host, invocation, begun, event);
    }
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof Rejected rejected) {
      return new CallAnswer(null, 0, CallFailures.of(rejected));
    }
    return failed(
        host,
        invocation,
        cause != null
            ? cause
            : new NullPointerException(
                "the handler's stage completed with null (expected: an event)"));
  }

  private static CallAnswer of(
      CallHost host, ReceivedInvocation invocation, long begun, Event event) {
    try {
      long micros = TimeUnit.NANOSECONDS.toMicros(host.nanoTime() - begun);
      return new CallAnswer(host.encode(event), (int) Math.min(Integer.MAX_VALUE, micros), null);
    } catch (EventBusException.PayloadTooBig e) {
      host.handlerFailed(invocation, e);
      return new CallAnswer(
          null,
          0,
          CallFailures.of(FailureCode.TOO_BIG, "the reply: " + e.getMessage(), Execution.YES));
    } catch (RuntimeException e) {
      return failed(host, invocation, e);
    }
  }

  private static CallAnswer failed(CallHost host, ReceivedInvocation invocation, Throwable thrown) {
    host.handlerFailed(invocation, thrown);
    // Not its message, which may hold data that is not the caller's to know.
    return new CallAnswer(
        null,
        0,
        CallFailures.of(
            FailureCode.FAILED,
            "the member's handler failed with " + thrown.getClass().getName(),
            Execution.YES));
  }

  /** Returns the frame for one of the targets. */
  CallFrame frame(ReceivedInvocation.Target target) {
    Body event = body;
    if (event != null) {
      return new ReplyFrame(target.path(), target.call(), handledMicros, event);
    }
    if (failure == null) {
      throw new IllegalStateException("neither an event nor a failure");
    }
    return CallFailures.frame(target.path(), target.call(), failure);
  }

  boolean isExecutedFailure() {
    return failure != null && failure.getExecuted() == io.eventbus.schema.Execution.YES;
  }
}
