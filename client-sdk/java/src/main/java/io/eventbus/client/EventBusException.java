package io.eventbus.client;

import org.jspecify.annotations.Nullable;

/**
 * Everything that can go wrong when an event bus is used.
 *
 * <p>Each kind says with {@link #retryable} whether the same call may succeed later. Stages of
 * {@link EventBusClient} complete with these, methods throw them; other exceptions are {@link
 * IllegalArgumentException} and {@link NullPointerException} for broken arguments.
 */
public abstract sealed class EventBusException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Whether the same call may succeed later. */
  private final boolean retryable;

  private EventBusException(String message, boolean retryable, @Nullable Throwable cause) {
    super(message, cause);
    this.retryable = retryable;
  }

  /**
   * Says whether the same call may succeed later.
   *
   * @return true if it is worth trying again after a pause
   */
  public final boolean retryable() {
    return retryable;
  }

  /**
   * A topic or filter that breaks the rules of the protocol. Nothing was sent. Do not retry;
   * correct the name, as the message says.
   */
  public static final class IllegalTopic extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message the name, and what is wrong with it
     */
    public IllegalTopic(String message) {
      super(message, false, null);
    }
  }

  /**
   * An event whose payload, key or headers are over a limit of the bus. Nothing was sent. Do not
   * retry; make the event smaller or have the bus's limit raised.
   */
  public static final class PayloadTooBig extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message which part, its size, and the limit
     */
    public PayloadTooBig(String message) {
      super(message, false, null);
    }
  }

  /**
   * The outbound buffer is full: the bus takes events more slowly than they are published, or there
   * is no connection. The event was not sent and got no sequence number. Retry after a pause.
   */
  public static final class BufferFull extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message the buffer's size and what it holds
     */
    public BufferFull(String message) {
      super(message, true, null);
    }
  }

  /**
   * No connection could be made. Nothing was sent. Retry, unless the cause is a mistake in the
   * settings.
   */
  public static final class NotConnected extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message which bus, and what happened
     * @param cause what happened, if there is an exception for it
     */
    public NotConnected(String message, @Nullable Throwable cause) {
      super(message, true, cause);
    }
  }

  /**
   * The connection was lost for good while the outcome was open: the events <b>may or may not</b>
   * have been delivered. Publishing them again may deliver them twice; not publishing them again
   * may lose them.
   */
  public static final class ConnectionLost extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what was under way and why the connection ended
     */
    public ConnectionLost(String message) {
      super(message, true, null);
    }
  }

  /** The bus refused something. {@link #code} and {@link #retryable} are what it answered. */
  public static final class Refused extends EventBusException {
    private static final long serialVersionUID = 1L;

    /** What the bus answered. */
    private final ErrorCode code;

    /**
     * Makes one.
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
     * Returns what the bus answered.
     *
     * @return the code
     */
    public ErrorCode code() {
      return code;
    }
  }

  /**
   * A deadline passed. For a published event the outcome is open: it may or may not have been
   * delivered. Retry after a pause.
   */
  public static final class TimedOut extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what was waited for, and for how long
     */
    public TimedOut(String message) {
      super(message, true, null);
    }
  }

  /** The client or the subscription is closed. Do not retry; make a new one. */
  public static final class Closed extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what is closed
     */
    public Closed(String message) {
      this(message, null);
    }

    /**
     * Makes one.
     *
     * @param message what is closed
     * @param cause why it is closed, if not because the application closed it
     */
    public Closed(String message, @Nullable Throwable cause) {
      super(message, false, cause);
    }
  }

  /**
   * A payload that is not what the codec expects, or a value that the codec cannot encode. Do not
   * retry with the same bytes.
   */
  public static final class UnreadablePayload extends EventBusException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message the schemas concerned and what is wrong
     * @param cause what the decoder said, if it said anything
     */
    public UnreadablePayload(String message, @Nullable Throwable cause) {
      super(message, false, cause);
    }
  }
}
