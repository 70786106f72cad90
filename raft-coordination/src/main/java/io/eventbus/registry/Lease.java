package io.eventbus.registry;

/**
 * Time until which a bus counts as alive without a renewal.
 *
 * @param durationMillis the granted duration, 100 to 86,400,000 milliseconds
 * @param expiresAtMillis the end, in milliseconds of registry time (see {@link
 *     RegistrySnapshot#timeMillis()}); not negative
 */
public record Lease(long durationMillis, long expiresAtMillis) {
  /** Minimum lease: 100 milliseconds. */
  public static final long MIN_MILLIS = 100;

  /** Maximum lease: one day, in milliseconds. */
  public static final long MAX_MILLIS = 86_400_000;

  /**
   * Checks the lease.
   *
   * @param durationMillis as above
   * @param expiresAtMillis as above
   * @throws IllegalArgumentException if a value is out of its range
   */
  public Lease {
    RegistryChecks.range("leaseMillis", durationMillis, MIN_MILLIS, MAX_MILLIS);
    RegistryChecks.range("expiresAtMillis", expiresAtMillis, 0, Long.MAX_VALUE);
  }

  /**
   * Returns whether the lease has run out.
   *
   * @param timeMillis registry time, in milliseconds
   * @return true at the end of the lease and after it
   */
  public boolean isExpiredAt(long timeMillis) {
    return timeMillis >= expiresAtMillis;
  }
}
