package io.eventbus.client.internal.call;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Execution;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Conversions between failures as frames and as exceptions of the application. */
final class CallFailures {
  private static final int MAX_MESSAGE_BYTES = 1024;

  private CallFailures() {}

  /**
   * Returns the caller's exception for a Failure.
   *
   * @param service that was asked: the texts of a bus about a call do not name it
   */
  static CallFailed seen(String service, Failure failure, boolean idempotent) {
    Execution executed = Execution.valueOf(failure.getExecuted().name());
    boolean safe = isSafe(executed, idempotent);
    Duration retryAfter = Duration.ofMillis(Math.max(0, failure.getRetryAfterMillis()));
    String message = failure.getMessage();
    String named = service + ": " + message;
    return switch (failure.getCode()) {
      case NO_MEMBER -> new CallFailed.NoMember(named, executed, safe);
      case TIMEOUT -> new CallFailed.DeadlineExceeded(named, executed, safe);
      case CANCELLED -> new CallFailed.Cancelled(named, executed, safe);
      case OVERLOADED -> new CallFailed.Overloaded(named, executed, safe, retryAfter);
      case MEMBER_LOST -> new CallFailed.MemberLost(named, executed, safe);
      case FORBIDDEN -> notServed(ErrorCode.FORBIDDEN, failure, executed);
      case TOO_BIG -> notServed(ErrorCode.TOO_BIG, failure, executed);
      case UNSUPPORTED -> notServed(ErrorCode.UNSUPPORTED, failure, executed);
      case INTERNAL -> new CallFailed.NotServed(ErrorCode.INTERNAL, message, executed, safe);
      case REFUSED -> rejected(Rejected.Reason.REFUSED, failure, executed, safe);
      case UNKNOWN_METHOD -> rejected(Rejected.Reason.UNKNOWN_METHOD, failure, executed, false);
      case FAILED -> rejected(Rejected.Reason.FAILED, failure, executed, safe);
    };
  }

  /** Returns whether a request may be sent again as far as its execution matters. */
  static boolean isSafe(Execution executed, boolean idempotent) {
    return executed == Execution.NO || (executed == Execution.UNKNOWN && idempotent);
  }

  // Another attempt would end like this one.
  private static CallFailed notServed(ErrorCode code, Failure failure, Execution executed) {
    return new CallFailed.NotServed(code, failure.getMessage(), executed, false);
  }

  private static CallFailed rejected(
      Rejected.Reason reason, Failure failure, Execution executed, boolean retryable) {
    ByteBuffer details = failure.getDetails().duplicate();
    byte[] bytes = new byte[details.remaining()];
    details.get(bytes);
    return new Rejected(
        reason,
        failure.getMessage(),
        executed,
        retryable,
        Duration.ofMillis(Math.max(0, failure.getRetryAfterMillis())),
        failure.getType(),
        bytes);
  }

  /** Returns the failure that a member answers on behalf of the SDK. */
  static Failure of(FailureCode code, String message, Execution executed) {
    return new Failure(
        0L,
        code,
        fit(message, MAX_MESSAGE_BYTES),
        io.eventbus.schema.Execution.valueOf(executed.name()),
        0L,
        0L,
        "",
        ByteBuffer.allocate(0),
        false);
  }

  /** Returns the failure that a member answers on behalf of its application. */
  static Failure of(Rejected rejected) {
    Failure failure =
        of(
            FailureCode.valueOf(rejected.reason().name()),
            String.valueOf(rejected.getMessage()),
            rejected.executed());
    failure.setRetryAfterMillis(rejected.retryAfter().toMillis());
    failure.setType(fit(rejected.type(), FrameLimits.MAX_NAME_BYTES));
    byte[] details = rejected.details();
    int length = Math.min(details.length, FrameLimits.MAX_DETAILS_BYTES);
    failure.setDetails(ByteBuffer.wrap(details, 0, length).slice());
    return failure;
  }

  /** Returns the frame of a failure that answers a call. */
  static CallFrame frame(CallPath path, long call, Failure failure) {
    // Avro's own copies look classes up by name, which it forbids for classes that are not trusted.
    Failure numbered =
        new Failure(
            call,
            failure.getCode(),
            failure.getMessage(),
            failure.getExecuted(),
            failure.getRetryAfterMillis(),
            0L,
            failure.getType(),
            failure.getDetails().duplicate(),
            false);
    return new BytesFrame(path, ControlFrames.encode(TypeCode.FAILURE, numbered));
  }

  /** Shortens a text to a number of bytes of UTF-8. */
  private static String fit(String text, int maxBytes) {
    String shown = text.length() > maxBytes ? text.substring(0, maxBytes) : text;
    while (shown.getBytes(StandardCharsets.UTF_8).length > maxBytes) {
      shown = shown.substring(0, shown.length() - 1);
    }
    return shown;
  }
}
