package io.eventbus.server.config;

import java.time.Duration;

/**
 * Moves of clients to other buses.
 *
 * @param enabled whether a bus that has too much to do moves clients by itself
 * @param highPercent of the load, above which a bus is overloaded
 * @param lowPercent of the load, to which an overloaded bus brings itself
 * @param overloadAfter how long the load must have been high
 * @param capacityEvents events in and out a second that count as full load, 0 for none
 * @param capacityBytes bytes in and out a second that count as full load, 0 for none
 * @param movesPerSecond clients that may begin to move in a second
 * @param coolDown how long a client is left alone after a move
 * @param maxMovesPerMinute moves of one client within a minute, for whatever reason
 * @param deadline how long a client may take to move
 * @param drainTimeout how long a stopping bus goes on moving its clients
 */
public record BalanceConfig(
    boolean enabled,
    int highPercent,
    int lowPercent,
    Duration overloadAfter,
    long capacityEvents,
    long capacityBytes,
    int movesPerSecond,
    Duration coolDown,
    int maxMovesPerMinute,
    Duration deadline,
    Duration drainTimeout) {
  /**
   * Checks every value against its range in {@link ConfigKey}, and the marks against each other.
   *
   * @param enabled whether a bus that has too much to do moves clients by itself
   * @param highPercent of the load, above which a bus is overloaded
   * @param lowPercent of the load, to which an overloaded bus brings itself
   * @param overloadAfter how long the load must have been high
   * @param capacityEvents events in and out a second that count as full load, 0 for none
   * @param capacityBytes bytes in and out a second that count as full load, 0 for none
   * @param movesPerSecond clients that may begin to move in a second
   * @param coolDown how long a client is left alone after a move
   * @param maxMovesPerMinute moves of one client within a minute, for whatever reason
   * @param deadline how long a client may take to move
   * @param drainTimeout how long a stopping bus goes on moving its clients
   * @throws IllegalArgumentException if a value is out of range or the marks are in the wrong order
   */
  public BalanceConfig {
    ConfigKey.BALANCE_HIGH_PERCENT.inRange(highPercent);
    ConfigKey.BALANCE_LOW_PERCENT.inRange(lowPercent);
    ConfigKey.BALANCE_OVERLOAD_AFTER.inRange(overloadAfter);
    ConfigKey.BALANCE_CAPACITY_EVENTS.inRange(capacityEvents);
    ConfigKey.BALANCE_CAPACITY_BYTES.inRange(capacityBytes);
    ConfigKey.BALANCE_MOVES_PER_SECOND.inRange(movesPerSecond);
    ConfigKey.BALANCE_COOL_DOWN.inRange(coolDown);
    ConfigKey.BALANCE_MAX_MOVES_PER_MINUTE.inRange(maxMovesPerMinute);
    ConfigKey.BALANCE_DEADLINE.inRange(deadline);
    ConfigKey.BALANCE_DRAIN_TIMEOUT.inRange(drainTimeout);
    if (lowPercent >= highPercent) {
      throw new IllegalArgumentException(
          ConfigKey.BALANCE_LOW_PERCENT.key()
              + ": "
              + lowPercent
              + " (expected: less than balance.high-percent, "
              + highPercent
              + ")");
    }
  }

  /**
   * Returns the upper mark as a share.
   *
   * @return 0 to 1
   */
  public double high() {
    return highPercent / 100.0;
  }

  /**
   * Returns the lower mark as a share.
   *
   * @return 0 to 1
   */
  public double low() {
    return lowPercent / 100.0;
  }
}
