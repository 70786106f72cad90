package io.eventbus.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Failure in the use of an event bus.
 *
 * <p>Each kind says with {@link #retryable} whether the same call may succeed later. Stages of
 * {@link EventBusClient} complete with these, methods throw them; other exceptions are {@link
 * IllegalArgumentException} and {@link NullPointerException} for broken arguments.
 */
public abstract sealed class EventBusException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean retryable;

  private EventBusException(String message, boolean retryable, @Nullable Throwable cause) {
    super(message, cause);
    this.retryable = retryable;
  }

  /**
   * Returns whether the same call may succeed later.
   *
   * @return true if it is worth trying again after a pause
   */
  public final boolean retryable() {
    return retryable;
  }

  /**
   * Topic, filter or service name that breaks the rules of the protocol. Nothing was sent. Do not
   * retry; correct the name, as the message says.
   */
  public static final class IllegalTopic extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message the name, and what is wrong with it
     */
    public IllegalTopic(String message) {
      super(message, false, null);
    }
  }

  /**
   * Event whose payload, key or headers exceed a limit of the bus. Nothing was sent. Do not retry;
   * make the event smaller or have the bus's limit raised.
   */
  public static final class PayloadTooBig extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message which part, its size, and the limit
     */
    public PayloadTooBig(String message) {
      super(message, false, null);
    }
  }

  /**
   * Full outbound buffer: the bus accepts events more slowly than they are published, or there is
   * no connection. The event was not sent and got no sequence number. Retry after a pause.
   */
  public static final class BufferFull extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message the buffer's size and what it holds
     */
    public BufferFull(String message) {
      super(message, true, null);
    }
  }

  /** Failure to connect. Nothing was sent. Retry, unless the cause is a mistake in the settings. */
  public static final class NotConnected extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message which bus, and what happened
     * @param cause what happened, if there is an exception for it
     */
    public NotConnected(String message, @Nullable Throwable cause) {
      super(message, true, cause);
    }
  }

  /**
   * Failure of the supplier of tokens, or no legal token from it. An existing connection goes on,
   * and the supplier is asked again later; for a new connection nothing was sent. Retry, unless the
   * cause is a mistake in the supplier.
   */
  public static final class NoToken extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what the supplier threw or gave
     * @param cause what it threw, if it did
     */
    public NoToken(String message, @Nullable Throwable cause) {
      super(message, true, cause);
    }
  }

  /**
   * Loss of the connection for good while the result was open: the events <b>may or may not</b>
   * have been delivered. Publishing them again may deliver them twice; not publishing them again
   * may lose them.
   */
  public static final class ConnectionLost extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was under way and why the connection ended
     */
    public ConnectionLost(String message) {
      super(message, true, null);
    }
  }

  /** Refusal by the bus. {@link #code} and {@link #retryable} are from its answer. */
  public static final class Refused extends EventBusException {
    private static final long serialVersionUID = 1L;

    /** Code of the bus's answer. */
    private final ErrorCode code;

    /**
     * Creates the exception.
     *
     * @param code what the bus answered
     * @param message the bus's explanation
     * @param retryable whether the bus says that a later try may succeed
     */
    public Refused(ErrorCode code, String message, boolean retryable) {
      super(message, retryable, null);
      this.code = code;
    }

    /**
     * Returns the code of the bus's answer.
     *
     * @return the code
     */
    public ErrorCode code() {
      return code;
    }
  }

  /**
   * Missed deadline. A published event that was sent may or may not have been delivered; one that
   * was not sent is withdrawn, and never delivered. The message says which. Retry after a pause.
   */
  public static final class TimedOut extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what was waited for, and for how long
     */
    public TimedOut(String message) {
      super(message, true, null);
    }
  }

  /** Use of a closed client or subscription. Do not retry; create a new one. */
  public static final class Closed extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what is closed
     */
    public Closed(String message) {
      this(message, null);
    }

    /**
     * Creates the exception.
     *
     * @param message what is closed
     * @param cause why it is closed, if not because the application closed it
     */
    public Closed(String message, @Nullable Throwable cause) {
      super(message, false, cause);
    }
  }

  /**
   * Payload that does not match the codec, or a value that the codec cannot encode. Do not retry
   * with the same bytes.
   */
  public static final class UnreadablePayload extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message the schemas concerned and what is wrong
     * @param cause what the decoder said, if it said anything
     */
    public UnreadablePayload(String message, @Nullable Throwable cause) {
      super(message, false, cause);
    }
  }

  /**
   * Failure of a request to a service. {@link #executed} says whether a member has begun with it;
   * {@link #retryable} is true if the same call may succeed later and is safe: it was not executed,
   * or perhaps, and it is idempotent.
   */
  public abstract static sealed class CallFailed extends EventBusException {
    private static final long serialVersionUID = 1L;

    /** State of its execution. */
    private final Execution executed;

    /** Time after which another attempt may be worth it. */
    private final Duration retryAfter;

    private CallFailed(String message, Execution executed, boolean retryable, Duration retryAfter) {
      super(message, retryable, null);
      this.executed = executed;
      this.retryAfter = retryAfter;
    }

    /**
     * Returns whether a member has begun with the request.
     *
     * @return what is known of it
     */
    public final Execution executed() {
      return executed;
    }

    /**
     * Returns the time after which another attempt may be worth it, as the bus or the member says.
     *
     * @return the time to wait; zero for no advice
     */
    public final Duration retryAfter() {
      return retryAfter;
    }

    /** Absence of members: no member serves the service, or the requested member does not. */
    public static final class NoMember extends CallFailed {
      private static final long serialVersionUID = 1L;

      /**
       * Creates the exception.
       *
       * @param message which service
       * @param executed whether a member has begun with an earlier attempt
       * @param retryable whether another attempt is safe
       */
      public NoMember(String message, Execution executed, boolean retryable) {
        super(message, executed, retryable, Duration.ZERO);
      }
    }

    /** Overload: more requests wait than the client, the bus or the member permits. */
    public static final class Overloaded extends CallFailed {
      private static final long serialVersionUID = 1L;

      /**
       * Creates the exception.
       *
       * @param message what is overloaded
       * @param executed whether a member has begun with it
       * @param retryable whether another attempt is safe
       * @param retryAfter when another attempt may be worth it
       */
      public Overloaded(
          String message, Execution executed, boolean retryable, Duration retryAfter) {
        super(message, executed, retryable, retryAfter);
      }
    }

    /** Timeout of the request. */
    public static final class DeadlineExceeded extends CallFailed {
      private static final long serialVersionUID = 1L;

      /**
       * Creates the exception.
       *
       * @param message what was waited for, and for how long
       * @param executed whether a member has begun with it
       * @param retryable whether another attempt is safe
       */
      public DeadlineExceeded(String message, Execution executed, boolean retryable) {
        super(message, executed, retryable, Duration.ZERO);
      }
    }

    /** Loss of the member's connection before it answered. */
    public static final class MemberLost extends CallFailed {
      private static final long serialVersionUID = 1L;

      /**
       * Creates the exception.
       *
       * @param message which member
       * @param executed whether it has begun with it
       * @param retryable whether another attempt is safe
       */
      public MemberLost(String message, Execution executed, boolean retryable) {
        super(message, executed, retryable, Duration.ZERO);
      }
    }

    /** Loss of this client's connection after the request was sent. */
    public static final class BusLost extends CallFailed {
      private static final long serialVersionUID = 1L;

      /**
       * Creates the exception.
       *
       * @param message which request
       */
      public BusLost(String message) {
        super(message, Execution.UNKNOWN, false, Duration.ZERO);
      }
    }

    /**
     * Cancellation: the caller has cancelled the request, or was interrupted, or its client was
     * closed.
     */
    public static final class Cancelled extends CallFailed {
      private static final long serialVersionUID = 1L;

      /**
       * Creates the exception.
       *
       * @param message why
       * @param executed whether a member has begun with it
       * @param retryable whether another attempt is safe
       */
      public Cancelled(String message, Execution executed, boolean retryable) {
        super(message, executed, retryable, Duration.ZERO);
      }
    }

    /** Refusal or fault of the bus; {@link #code} says which. */
    public static final class NotServed extends CallFailed {
      private static final long serialVersionUID = 1L;

      /** Code of the bus's answer. */
      private final ErrorCode code;

      /**
       * Creates the exception.
       *
       * @param code FORBIDDEN, TOO_BIG, UNSUPPORTED or INTERNAL
       * @param message the explanation
       * @param executed whether a member has begun with it
       * @param retryable whether another attempt is safe and may succeed
       */
      public NotServed(ErrorCode code, String message, Execution executed, boolean retryable) {
        super(message, executed, retryable, Duration.ZERO);
        this.code = code;
      }

      /**
       * Returns the reason.
       *
       * @return FORBIDDEN, TOO_BIG (what was sent or what was answered), UNSUPPORTED or INTERNAL
       */
      public ErrorCode code() {
        return code;
      }
    }

    /**
     * Rejection by the member. Handlers throw it to reject a request; {@link #type} and {@link
     * #details} are the application's and reach the caller unchanged.
     */
    public static final class Rejected extends CallFailed {
      private static final long serialVersionUID = 1L;

      /** Kind of rejection. */
      public enum Reason {
        /** The member does not accept it now, and did nothing with it: the bus tries others. */
        REFUSED,
        /** The member has no such method. */
        UNKNOWN_METHOD,
        /** The member has tried and failed. */
        FAILED
      }

      /** Kind of rejection. */
      private final Reason reason;

      /** Name of the failure in the application's terms. */
      private final String type;

      /** Details of the failure in the application's own form. */
      private final byte[] details;

      /**
       * Creates the exception; handlers use the methods below.
       *
       * @param reason the kind of rejection
       * @param message the explanation, for people
       * @param executed whether the member has begun with it
       * @param retryable whether another attempt is safe and may succeed
       * @param retryAfter when another attempt may be worth it
       * @param type the application's name for the failure
       * @param details in the application's own form; copied
       */
      public Rejected(
          Reason reason,
          String message,
          Execution executed,
          boolean retryable,
          Duration retryAfter,
          String type,
          byte[] details) {
        super(message, executed, retryable, retryAfter);
        this.reason = reason;
        this.type = type;
        this.details = details.clone();
      }

      /**
       * Creates the rejection of a handler that has done nothing with a request and does not accept
       * it now.
       *
       * @param message the explanation, for people
       * @param retryAfter when another attempt may be worth it; zero for no advice
       * @return the exception to throw
       */
      public static Rejected refused(String message, Duration retryAfter) {
        return new Rejected(
            Reason.REFUSED, message, Execution.NO, true, retryAfter, "", new byte[0]);
      }

      /**
       * Creates the rejection of a handler that does not know the method.
       *
       * @param method the requested method
       * @return the exception to throw
       */
      public static Rejected unknownMethod(String method) {
        return new Rejected(
            Reason.UNKNOWN_METHOD,
            "method '" + method + "' is unknown",
            Execution.NO,
            false,
            Duration.ZERO,
            "",
            new byte[0]);
      }

      /**
       * Creates the rejection of a handler that has tried and failed.
       *
       * @param type the application's name for the failure, at most 255 bytes of UTF-8
       * @param message the explanation, for people
       * @param details in the application's own form, at most 64 KiB; copied
       * @return the exception to throw
       */
      public static Rejected failed(String type, String message, byte[] details) {
        return new Rejected(
            Reason.FAILED, message, Execution.YES, false, Duration.ZERO, type, details);
      }

      /**
       * Returns the kind of rejection.
       *
       * @return the reason
       */
      public Reason reason() {
        return reason;
      }

      /**
       * Returns the application's name for the failure.
       *
       * @return the name, empty for none
       */
      public String type() {
        return type;
      }

      /**
       * Returns the details of the failure, in the application's own form.
       *
       * @return a new array
       */
      public byte[] details() {
        return details.clone();
      }
    }
  }
}
