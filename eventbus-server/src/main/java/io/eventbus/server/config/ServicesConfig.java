package io.eventbus.server.config;

import java.time.Duration;

/**
 * Limits of calls and services, and treatment of calls.
 *
 * @param calls calls of one connection that may be in flight
 * @param perConnection services that one connection may serve
 * @param tunnels streams and tunnels of one connection that may be open
 * @param tunnelBufferBytes data of these that may wait for one connection
 * @param timeout how long a caller waits that does not say so
 * @param maxWait how long requests wait for a member before others are refused
 * @param retries how often a call that may be executed twice is given to another member
 * @param retryPercent such calls that are given to another member, of a hundred calls of a service
 * @param queueRequests requests that may wait for one service, on each event loop
 * @param queueBytes bytes of requests that may wait on the whole bus, 0 for a quarter of its memory
 * @param maxGatherMembers members that the requests of one connection to all members may wait for
 * @param rejoin how long a member whose connection is lost counts as present
 */
public record ServicesConfig(
    int calls,
    int perConnection,
    int tunnels,
    long tunnelBufferBytes,
    Duration timeout,
    Duration maxWait,
    int retries,
    int retryPercent,
    int queueRequests,
    long queueBytes,
    int maxGatherMembers,
    Duration rejoin) {
  /**
   * Minimum for each tunnel. Half of it is for one tunnel alone, so that it goes on whatever the
   * others do.
   */
  private static final long MIN_BYTES_PER_TUNNEL = 2 << 10;

  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param calls calls of one connection that may be in flight
   * @param perConnection services that one connection may serve
   * @param tunnels streams and tunnels of one connection that may be open
   * @param tunnelBufferBytes data of these that may wait for one connection
   * @param timeout how long a caller waits that does not say so
   * @param maxWait how long requests wait for a member before others are refused
   * @param retries how often a call that may be executed twice is given to another member
   * @param retryPercent such calls that are given to another member, of a hundred calls of a
   *     service
   * @param queueRequests requests that may wait for one service, on each event loop
   * @param queueBytes bytes of requests that may wait on the whole bus, 0 for a quarter of its
   *     memory
   * @param maxGatherMembers members that the requests of one connection to all members may wait for
   * @param rejoin how long a member whose connection is lost counts as present
   * @throws IllegalArgumentException if a value is out of range
   */
  public ServicesConfig {
    ConfigKey.LIMITS_CALLS.inRange(calls);
    ConfigKey.LIMITS_SERVICES.inRange(perConnection);
    ConfigKey.LIMITS_TUNNELS.inRange(tunnels);
    ConfigKey.LIMITS_TUNNEL_BUFFER_BYTES.inRange(tunnelBufferBytes);
    if (tunnelBufferBytes < tunnels * MIN_BYTES_PER_TUNNEL) {
      throw new IllegalArgumentException(
          ConfigKey.LIMITS_TUNNEL_BUFFER_BYTES.key()
              + ": "
              + ConfigKey.LIMITS_TUNNEL_BUFFER_BYTES.type().print(tunnelBufferBytes)
              + " (expected: >= "
              + ConfigKey.LIMITS_TUNNEL_BUFFER_BYTES.type().print(tunnels * MIN_BYTES_PER_TUNNEL)
              + ", 2KiB for each of "
              + ConfigKey.LIMITS_TUNNELS.key()
              + ")");
    }
    ConfigKey.SERVICES_TIMEOUT.inRange(timeout);
    ConfigKey.SERVICES_MAX_WAIT.inRange(maxWait);
    ConfigKey.SERVICES_RETRIES.inRange(retries);
    ConfigKey.SERVICES_RETRY_PERCENT.inRange(retryPercent);
    ConfigKey.SERVICES_QUEUE_REQUESTS.inRange(queueRequests);
    ConfigKey.SERVICES_QUEUE_BYTES.inRange(queueBytes);
    ConfigKey.SERVICES_MAX_GATHER_MEMBERS.inRange(maxGatherMembers);
    ConfigKey.SERVICES_REJOIN.inRange(rejoin);
  }
}
