package io.eventbus.client.internal;

import java.io.IOException;

/** The request for an upgrade to WebSocket was answered with another HTTP status than 101. */
public final class UpgradeRefused extends IOException {
  private static final long serialVersionUID = 1L;

  /** From here on the server could not do it now; below, the request itself is not accepted. */
  private static final int FIRST_SERVER_ERROR = 500;

  /** What was answered. */
  private final int status;

  /**
   * Makes one.
   *
   * @param status the HTTP status
   * @param phrase the reason phrase behind it, perhaps empty
   */
  public UpgradeRefused(int status, String phrase) {
    super("HTTP status: " + status + " " + phrase + " (expected: 101 Switching Protocols)");
    this.status = status;
  }

  /**
   * Returns what was answered.
   *
   * @return the HTTP status
   */
  public int status() {
    return status;
  }

  /** Says whether the same request is refused again whenever it comes. */
  boolean isFinal() {
    return status < FIRST_SERVER_ERROR;
  }
}
