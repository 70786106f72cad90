package io.eventbus.server.config;

/**
 * Limits of the clients of one address together. None of them holds for loopback.
 *
 * @param connections open connections, 0 for no limit
 * @param handshakes connections that have not been welcomed yet, 0 for no limit
 * @param handshakesPerSecond new connections in a second, on the average of ten; 0 for no limit
 * @param memoryPercent share of the bus's memory for queues and of that for subscriptions
 */
public record AddressLimitsConfig(
    int connections, int handshakes, int handshakesPerSecond, int memoryPercent) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param connections open connections, 0 for no limit
   * @param handshakes connections that have not been welcomed yet, 0 for no limit
   * @param handshakesPerSecond new connections in a second, on the average of ten; 0 for no limit
   * @param memoryPercent share of the bus's memory for queues and of that for subscriptions
   * @throws IllegalArgumentException if a value is out of range
   */
  public AddressLimitsConfig {
    ConfigKey.LIMITS_ADDRESS_CONNECTIONS.inRange(connections);
    ConfigKey.LIMITS_ADDRESS_HANDSHAKES.inRange(handshakes);
    ConfigKey.LIMITS_ADDRESS_HANDSHAKE_RATE.inRange(handshakesPerSecond);
    ConfigKey.LIMITS_ADDRESS_MEMORY_PERCENT.inRange(memoryPercent);
  }
}
