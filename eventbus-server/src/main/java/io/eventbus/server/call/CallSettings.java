package io.eventbus.server.call;

import io.eventbus.server.call.tunnel.TunnelSettings;

/**
 * The bounds of calls, from the configuration.
 *
 * @param timeoutNanos how long a caller waits that does not say it
 * @param maxTimeoutNanos how long a caller may wait; more is cut down to it
 * @param maxWaitNanos how long calls wait for a member before other urgent ones are refused; half
 *     of it for those of normal priority, a tenth for those of low priority
 * @param retries how often a call that may be executed twice is given to another member
 * @param retryPercent how many calls of a service, of a hundred, may be given to another member
 *     after they were perhaps executed; ten each second always may
 * @param queueRequests calls of one service that may wait
 * @param queueBytes bytes that may wait, of all services
 * @param gather members that the requests of one connection to all members may wait for
 */
public record CallSettings(
    int callsInFlight,
    long timeoutNanos,
    long maxTimeoutNanos,
    long maxWaitNanos,
    int retries,
    int retryPercent,
    int queueRequests,
    long queueBytes,
    int gather,
    TunnelSettings tunnels) {
  /** As above, with 1,024 tunnels and 8 MiB, as tests have it. */
  CallSettings(
      int callsInFlight,
      long timeoutNanos,
      long maxTimeoutNanos,
      long maxWaitNanos,
      int retries,
      int retryPercent,
      int queueRequests,
      long queueBytes,
      int gather) {
    this(
        callsInFlight,
        timeoutNanos,
        maxTimeoutNanos,
        maxWaitNanos,
        retries,
        retryPercent,
        queueRequests,
        queueBytes,
        gather,
        TunnelSettings.of(1_024, 8 << 20));
  }
}
