package io.eventbus.client.internal.base;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Refusal of an upgrade to WebSocket: another HTTP status than 101. */
public final class UpgradeRefused extends IOException {
  private static final long serialVersionUID = 1L;

  /** Header of refusals that a bus makes itself, whatever its value. */
  public static final String BY_BUS = "EventBus-Refused";

  /**
   * Lowest status of a server that cannot accept the request now; below, the request itself is not
   * accepted.
   */
  private static final int FIRST_SERVER_ERROR = 500;

  /** Statuses below that which are temporary: request timeout, too early, too many requests. */
  private static final Set<Integer> TEMPORARY = Set.of(408, 425, 429);

  private static final Duration MAX_RETRY_AFTER = Duration.ofMinutes(5);

  /** Status of the answer. */
  private final int status;

  private final long retryAfterSeconds;

  /** Set if the answer is from a bus, and not from a proxy before it. */
  private final boolean byBus;

  /**
   * Creates a refusal.
   *
   * @param phrase the reason phrase behind the status, perhaps empty
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

  /** Returns the time that the server asks to wait before another attempt: at most five minutes. */
  public Duration retryAfter() {
    return Duration.ofSeconds(retryAfterSeconds);
  }

  /** Returns the status of the answer. */
  public int status() {
    return status;
  }

  /** Returns whether the server does not accept the request, instead of not being able to now. */
  public boolean isRefusal() {
    return status < FIRST_SERVER_ERROR && !TEMPORARY.contains(status);
  }

  /**
   * Returns whether the same request is refused again at any time. A proxy answers while there is
   * no bus behind it.
   */
  public boolean isFinal() {
    return byBus && isRefusal();
  }
}
