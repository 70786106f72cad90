package io.eventbus.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of a request; immutable.
 *
 * @param timeout how long to wait for the answer, 1 ms to 10 minutes; default 30 s. After that the
 *     request is not sent, and no handler is begun with it
 * @param method the requested method, for the member alone: at most 255 bytes of UTF-8; default
 *     empty
 * @param idempotent whether the request may be executed more than once; default false. Only then is
 *     one that may have been executed sent again, by the bus and by this client
 * @param priority the order in which requests are served; default {@link Priority#NORMAL}
 * @param waitFor the part of the time-out for which the bus waits for a member if the service has
 *     none; default 0: the request fails at once
 * @param member the only member to ask: {@link Response#member} of an earlier answer; default 0:
 *     any
 * @param retry the policy for sending a failed request again; null (the default) for {@link
 *     RetryPolicy#STANDARD} if it is idempotent and {@link RetryPolicy#NONE} if not. An idempotent
 *     request whose connection was lost is sent again over the next one in any case
 */
public record RequestOptions(
    Duration timeout,
    String method,
    boolean idempotent,
    Priority priority,
    Duration waitFor,
    long member,
    @Nullable RetryPolicy retry) {
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(10);

  /** Options with 30 s, no method, not idempotent, any member. */
  public static final RequestOptions DEFAULT =
      new RequestOptions(
          Duration.ofSeconds(30), "", false, Priority.NORMAL, Duration.ZERO, 0, null);

  /**
   * Checks the parts.
   *
   * @param timeout as above
   * @param method as above
   * @param idempotent as above
   * @param priority as above
   * @param waitFor as above
   * @param member as above
   * @param retry as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public RequestOptions {
    Objects.requireNonNull(priority, "priority");
    Checks.range("timeout", timeout, Duration.ofMillis(1), MAX_TIMEOUT);
    Checks.range("waitFor", waitFor, Duration.ZERO, MAX_TIMEOUT);
    Checks.range("method, bytes of UTF-8", method.getBytes(StandardCharsets.UTF_8).length, 0, 255);
  }

  /**
   * Returns options with another time-out.
   *
   * @param newTimeout 1 ms to 10 minutes
   * @return new options
   */
  public RequestOptions withTimeout(Duration newTimeout) {
    return new RequestOptions(newTimeout, method, idempotent, priority, waitFor, member, retry);
  }

  /**
   * Returns options with another method.
   *
   * @param newMethod at most 255 bytes of UTF-8, empty for none
   * @return new options
   */
  public RequestOptions withMethod(String newMethod) {
    return new RequestOptions(timeout, newMethod, idempotent, priority, waitFor, member, retry);
  }

  /**
   * Returns options that say whether the request may be executed more than once.
   *
   * @param newIdempotent whether it may
   * @return new options
   */
  public RequestOptions withIdempotent(boolean newIdempotent) {
    return new RequestOptions(timeout, method, newIdempotent, priority, waitFor, member, retry);
  }

  /**
   * Returns options with another priority.
   *
   * @param newPriority the priority
   * @return new options
   */
  public RequestOptions withPriority(Priority newPriority) {
    return new RequestOptions(timeout, method, idempotent, newPriority, waitFor, member, retry);
  }

  /**
   * Returns options with another time for which the bus waits for a member.
   *
   * @param newWaitFor 0 to 10 minutes
   * @return new options
   */
  public RequestOptions withWaitFor(Duration newWaitFor) {
    return new RequestOptions(timeout, method, idempotent, priority, newWaitFor, member, retry);
  }

  /**
   * Returns options that ask one member only.
   *
   * @param newMember {@link Response#member} of an earlier answer, or 0 for any
   * @return new options
   */
  public RequestOptions withMember(long newMember) {
    return new RequestOptions(timeout, method, idempotent, priority, waitFor, newMember, retry);
  }

  /**
   * Returns options with another policy for sending a failed request again.
   *
   * @param newRetry the policy, or null for the default
   * @return new options
   */
  public RequestOptions withRetry(@Nullable RetryPolicy newRetry) {
    return new RequestOptions(timeout, method, idempotent, priority, waitFor, member, newRetry);
  }

  /**
   * Returns the effective policy.
   *
   * @return the policy that was set, or the default for such a request
   */
  public RetryPolicy retryPolicy() {
    RetryPolicy set = retry;
    if (set != null) {
      return set;
    }
    return idempotent ? RetryPolicy.STANDARD : RetryPolicy.NONE;
  }
}
