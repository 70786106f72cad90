package io.eventbus.client.internal;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The request for an upgrade to WebSocket was answered with another HTTP status than 101. */
public final class UpgradeRefused extends IOException {
  private static final long serialVersionUID = 1L;

  /** The header of refusals that a bus makes itself, whatever its value. */
  public static final String BY_BUS = "EventBus-Refused";

  /** From here on the server could not do it now; below, the request itself is not accepted. */
  private static final int FIRST_SERVER_ERROR = 500;

  /** Statuses below that which are about now: request timeout, too early, too many requests. */
  private static final Set<Integer> TEMPORARY = Set.of(408, 425, 429);

  private static final Duration MAX_RETRY_AFTER = Duration.ofMinutes(5);

  /** What was answered. */
  private final int status;

  private final long retryAfterSeconds;

  /** Whether a bus has answered, and not something before it. */
  private final boolean byBus;

  /**
   * Makes one.
   *
   * @param phrase the reason phrase behind it, perhaps empty
   * @param retryAfter the header {@code Retry-After}; null for none. A date counts as none
   */
  public UpgradeRefused(int status, String phrase, @Nullable String retryAfter, boolean byBus) {
    super("HTTP status: " + status + " " + phrase + " (expected: 101 Switching Protocols)");
    this.status = status;
    this.retryAfterSeconds = seconds(retryAfter);
    this.byBus = byBus;
  }

  private static long seconds(@Nullable String text) {
    return text != null && text.strip().matches("\\d{1,9}")
        ? Math.min(MAX_RETRY_AFTER.toSeconds(), Long.parseLong(text.strip()))
        : 0;
  }

  /** Returns how long the server asks to wait before another try: at most five minutes. */
  Duration retryAfter() {
    return Duration.ofSeconds(retryAfterSeconds);
  }

  /** Returns what was answered. */
  public int status() {
    return status;
  }

  /** Says whether the server does not accept the request, instead of not being able to now. */
  boolean isRefusal() {
    return status < FIRST_SERVER_ERROR && !TEMPORARY.contains(status);
  }

  /**
   * Says whether the same request is refused again whenever it comes. What stands before a bus
   * answers anything while there is no bus behind it.
   */
  boolean isFinal() {
    return byBus && isRefusal();
  }
}
