package io.eventbus.client.internal.connection;

import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.protocol.CloseReason;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Count of attempts since a connection last held; says whether and when there is another. */
final class ReconnectBackoff {
  /** Time after which a connection counts as a success. */
  private static final long HELD_NANOS = Duration.ofSeconds(5).toNanos();

  /** Minimum time of an attempt. */
  private static final Duration MIN_TRY = Duration.ofMillis(100);

  private final ReconnectPolicy policy;
  private final DoubleSupplier random;
  private int attempt;

  ReconnectBackoff(ReconnectPolicy policy, DoubleSupplier random) {
    this.policy = policy;
    this.random = random;
  }

  /**
   * Records the end of a connection; returns true if it has held.
   *
   * @param welcomedFor nanoseconds since the bus's greeting
   */
  boolean ended(long welcomedFor) {
    // The longer it was there, the more is forgotten; a bus that ends it at once is not overrun.
    attempt = (int) Math.ceil(attempt * Math.max(0, 1 - (double) welcomedFor / HELD_NANOS));
    return welcomedFor >= HELD_NANOS;
  }

  /** Returns whether to connect again after an end. */
  boolean mayRetry(int code, @Nullable EventBusException failure) {
    boolean verdict =
        !CloseReason.mayReconnect(code) || (code == 1006 && failure != null && isVerdict(failure));
    return !verdict && attempt < policy.maxAttempts();
  }

  /** Returns whether a bus has decided that this client must not reconnect. */
  static boolean isVerdict(EventBusException failure) {
    return failure instanceof EventBusException.Refused refused && !refused.retryable();
  }

  /** Begins the next attempt; returns the time to wait before it. */
  Duration next() {
    attempt++;
    return policy.delay(attempt, random.getAsDouble());
  }

  /**
   * Begins the next of those attempts that have to succeed within a time; returns the time to wait
   * before it, or null if there is no time for another. Half of the remaining time is for the
   * attempt itself, however long the policy would wait.
   *
   * @param min time that the server asks to wait; zero if it does not
   */
  @Nullable Duration next(Duration left, Duration min) {
    if (left.minus(min).compareTo(MIN_TRY) < 0) {
      return null;
    }
    Duration wanted = next();
    Duration max = left.dividedBy(2);
    Duration planned = wanted.compareTo(max) < 0 ? wanted : max;
    return planned.compareTo(min) > 0 ? planned : min;
  }

  /** Returns the number of the attempt that was begun last. */
  int number() {
    return attempt;
  }
}
