package io.eventbus.server.config;

import java.time.Duration;

/**
 * Deadlines of the bus, and its budget of stalls.
 *
 * @param upgrade from TCP accept to the finished WebSocket upgrade
 * @param hello from TCP accept to the client's {@code Hello}
 * @param message from the first byte of a message to its last, while the bus reads
 * @param blockStallTime how long in a minute one subscriber may stall publishers of others; zero
 *     for no limit
 * @param pingInterval between pings to a client
 * @param pong from a ping to the next sign of life
 * @param slowSubscriber how long a full queue may stall publishers
 * @param close from the bus's Close frame to the client's
 * @param shutdown how long a stopping bus goes on delivering what is queued
 */
public record TimeoutsConfig(
    Duration upgrade,
    Duration hello,
    Duration message,
    Duration blockStallTime,
    Duration pingInterval,
    Duration pong,
    Duration slowSubscriber,
    Duration close,
    Duration shutdown) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param upgrade from TCP accept to the finished WebSocket upgrade
   * @param hello from TCP accept to the client's {@code Hello}
   * @param message from the first byte of a message to its last, while the bus reads
   * @param blockStallTime how long in a minute one subscriber may stall publishers of others; zero
   *     for no limit
   * @param pingInterval between pings to a client
   * @param pong from a ping to the next sign of life
   * @param slowSubscriber how long a full queue may stall publishers
   * @param close from the bus's Close frame to the client's
   * @param shutdown how long a stopping bus goes on delivering what is queued
   * @throws IllegalArgumentException if a value is out of range
   */
  public TimeoutsConfig {
    ConfigKey.TIMEOUTS_UPGRADE.inRange(upgrade);
    ConfigKey.TIMEOUTS_HELLO.inRange(hello);
    ConfigKey.TIMEOUTS_MESSAGE.inRange(message);
    ConfigKey.LIMITS_BLOCK_STALL_TIME.inRange(blockStallTime);
    ConfigKey.TIMEOUTS_PING_INTERVAL.inRange(pingInterval);
    ConfigKey.TIMEOUTS_PONG.inRange(pong);
    ConfigKey.TIMEOUTS_SLOW_SUBSCRIBER.inRange(slowSubscriber);
    ConfigKey.TIMEOUTS_CLOSE.inRange(close);
    ConfigKey.TIMEOUTS_SHUTDOWN.inRange(shutdown);
  }
}
