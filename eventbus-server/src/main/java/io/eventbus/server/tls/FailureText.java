package io.eventbus.server.tls;

import io.eventbus.base.PrintableText;

/** Text for a failed handshake in a line of the log. */
public final class FailureText {
  /** Maximum of characters of a reason: it may hold what the client has sent. */
  private static final int MAX_REASON = 300;

  private FailureText() {}

  /** Describes a failure. */
  public static String of(Throwable cause) {
    String message = cause.getMessage();
    return shortened(message == null ? cause.toString() : message);
  }

  /**
   * Returns a text as one short line: a subject, as a message, may hold anything, and must not
   * begin another line.
   */
  public static String shortened(String text) {
    return PrintableText.of(text, MAX_REASON);
  }
}
