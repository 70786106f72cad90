package io.eventbus.server.config;

import java.time.Duration;

/**
 * Routing of events between the buses of a cluster.
 *
 * @param fanout to how many other buses a bus sends an event itself at most
 * @param queueBytes bytes that may wait for one lane to another bus
 * @param memoryPercent part of the bus's memory limit that may wait for all lanes together
 * @param filters different filters with subscribers that one bus tells the others of
 * @param syncTimeout how long a promise to a client waits for other buses
 * @param peerTimeout how long a bus that cannot be reached is waited for
 * @param heartbeat time between signs of life on a lane
 * @param keepaliveTimeout how long the other side of a lane may say nothing
 */
public record FederationConfig(
    int fanout,
    long queueBytes,
    int memoryPercent,
    int filters,
    Duration syncTimeout,
    Duration peerTimeout,
    Duration heartbeat,
    Duration keepaliveTimeout) {
  /**
   * Checks every value.
   *
   * @param fanout to how many other buses a bus sends an event itself at most
   * @param queueBytes bytes that may wait for one lane to another bus
   * @param memoryPercent part of the bus's memory limit that may wait for all lanes together
   * @param filters different filters with subscribers that one bus tells the others of
   * @param syncTimeout how long a promise to a client waits for other buses
   * @param peerTimeout how long a bus that cannot be reached is waited for
   * @param heartbeat time between signs of life on a lane
   * @param keepaliveTimeout how long the other side of a lane may say nothing
   * @throws IllegalArgumentException if a value is illegal or does not fit the others
   */
  public FederationConfig {
    ConfigKey.FEDERATION_FANOUT.inRange(fanout);
    ConfigKey.FEDERATION_QUEUE_BYTES.inRange(queueBytes);
    ConfigKey.FEDERATION_MEMORY_PERCENT.inRange(memoryPercent);
    ConfigKey.FEDERATION_FILTERS.inRange(filters);
    ConfigKey.FEDERATION_SYNC_TIMEOUT.inRange(syncTimeout);
    ConfigKey.FEDERATION_PEER_TIMEOUT.inRange(peerTimeout);
    ConfigKey.FEDERATION_HEARTBEAT.inRange(heartbeat);
    ConfigKey.FEDERATION_KEEPALIVE_TIMEOUT.inRange(keepaliveTimeout);
    if (keepaliveTimeout.compareTo(heartbeat.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          ConfigKey.FEDERATION_KEEPALIVE_TIMEOUT.key()
              + ": "
              + keepaliveTimeout.toMillis()
              + "ms (expected: at least twice "
              + ConfigKey.FEDERATION_HEARTBEAT.key()
              + ")");
    }
  }
}
