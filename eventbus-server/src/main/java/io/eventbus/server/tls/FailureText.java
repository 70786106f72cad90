package io.eventbus.server.tls;

/** What a failed handshake is called in a line of the log. */
public final class FailureText {
  /** The most characters of a reason: it may hold what the client has sent. */
  private static final int MAX_REASON = 300;

  private FailureText() {}

  /**
   * Describes a failure.
   *
   * @param cause what has failed
   * @return its message in one short line
   */
  public static String of(Throwable cause) {
    String message = cause.getMessage();
    return shortened(message == null ? cause.toString() : message);
  }

  /**
   * Makes one short line of a text: a subject, as a message, may hold anything, and must not begin
   * another line.
   *
   * @param text any text
   * @return its beginning, without control characters
   */
  public static String shortened(String text) {
    String some = text.substring(0, Math.min(text.length(), MAX_REASON));
    StringBuilder shown = new StringBuilder(some.length());
    some.codePoints()
        .forEach(c -> shown.appendCodePoint(Character.isISOControl(c) || isLineEnd(c) ? '?' : c));
    return shown.toString();
  }

  private static boolean isLineEnd(int c) {
    return c == 0x2028 || c == 0x2029;
  }
}
