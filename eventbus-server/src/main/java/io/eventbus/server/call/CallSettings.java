package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.WaitLimits;
import io.eventbus.server.call.tunnel.TunnelSettings;

/**
 * Bounds of calls from the configuration.
 *
 * @param timeoutNanos default timeout of a call
 * @param maxTimeoutNanos maximum timeout; longer ones are reduced to it
 * @param maxWaitNanos time that calls wait for a member before further calls of high priority are
 *     refused; half of it for normal priority, a tenth for low priority
 * @param retries maximum repetitions of an idempotent call at other members
 * @param retryPercent percentage of a service's calls that may be repeated after they were perhaps
 *     executed; ten each second always may
 * @param queueRequests maximum waiting calls of one service
 * @param queueBytes maximum waiting bytes of all services
 * @param gather maximum members that the requests of one connection to all members may wait for
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
  /** Returns the bounds of waiting calls. */
  WaitLimits waitLimits() {
    return new WaitLimits(maxWaitNanos, queueRequests, queueBytes);
  }

  /** Creates settings with 1,024 tunnels and 8 MiB, for tests. */
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
