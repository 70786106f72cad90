package io.eventbus.protocol;

/**
 * Failure to read bytes that are not a legal frame. The message says which field, where (in bytes
 * from the start of the body, or of the message for the frame's own fields), the value found and
 * the expectation.
 *
 * <p>Do not retry with the same bytes. The exception carries no stack trace: it is thrown for
 * hostile input, at the rate at which that comes.
 */
public final class MalformedFrameException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Exceeded limit, rather than broken encoding. */
  private final boolean tooBig;

  private MalformedFrameException(String message, boolean tooBig) {
    super(message, null, false, false);
    this.tooBig = tooBig;
  }

  static MalformedFrameException malformed(String field, int at, Object found, String expected) {
    return new MalformedFrameException(
        field + ": " + found + " at byte " + at + " (expected: " + expected + ")", false);
  }

  static MalformedFrameException tooBig(String field, int at, long found, long limit) {
    return new MalformedFrameException(
        field + ": " + found + " at byte " + at + " (expected: at most " + limit + ")", true);
  }

  /**
   * Returns whether the frame is well formed as far as it was read, but larger than a limit.
   *
   * @return true for a limit, false for a broken encoding
   */
  public boolean isTooBig() {
    return tooBig;
  }
}
