package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.protocol.CloseReason;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Counts the tries since a connection last held, and says whether and when there is another. */
final class ReconnectBackoff {
  /** A connection that ends sooner does not count as a success. */
  private static final long HELD_NANOS = Duration.ofSeconds(5).toNanos();

  /** A try that has less time than this is none. */
  private static final Duration MIN_TRY = Duration.ofMillis(100);

  private final ReconnectPolicy policy;
  private final DoubleSupplier random;
  private int attempt;

  ReconnectBackoff(ReconnectPolicy policy, DoubleSupplier random) {
    this.policy = policy;
    this.random = random;
  }

  /**
   * A connection has ended.
   *
   * @param welcomedFor nanoseconds since the bus's greeting
   * @return true if it has held
   */
  boolean ended(long welcomedFor) {
    // The longer it was there, the more is forgotten; a bus that ends it at once is not overrun.
    attempt = (int) Math.ceil(attempt * Math.max(0, 1 - (double) welcomedFor / HELD_NANOS));
    return welcomedFor >= HELD_NANOS;
  }

  /** Says whether to connect again after an end. */
  boolean mayRetry(int code, @Nullable EventBusException failure) {
    boolean verdict =
        !CloseReason.mayReconnect(code) || (code == 1006 && failure != null && isVerdict(failure));
    return !verdict && attempt < policy.maxAttempts();
  }

  /** Says whether a bus has decided that this client is not to come back. */
  static boolean isVerdict(EventBusException failure) {
    return failure instanceof EventBusException.Refused refused && !refused.retryable();
  }

  /** Begins the next try; returns how long to wait before it. */
  Duration next() {
    attempt++;
    return policy.delay(attempt, random.getAsDouble());
  }

  /**
   * Begins the next of those tries that have to succeed within a time. Half of what is left of it
   * is for the try itself, however long the policy would wait.
   *
   * @param least how long the server asks to wait; zero if it does not
   * @return how long to wait before it; null if there is no time for another
   */
  @Nullable Duration next(Duration left, Duration least) {
    if (left.minus(least).compareTo(MIN_TRY) < 0) {
      return null;
    }
    Duration wanted = next();
    Duration most = left.dividedBy(2);
    Duration planned = wanted.compareTo(most) < 0 ? wanted : most;
    return planned.compareTo(least) > 0 ? planned : least;
  }

  /** The number of the try that was begun last. */
  int number() {
    return attempt;
  }
}
