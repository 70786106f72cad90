package io.eventbus.loadtest.coordination.run;

import org.jspecify.annotations.Nullable;

/**
 * What servers use while nobody asks them for anything. An interval counts if the same processes
 * run at its end and nothing was done with them. For one thread.
 */
final class IdleCpu {
  private @Nullable CpuTimes before;
  private long since;
  private double serverNanos;
  private double cpuNanos;

  /** From now on nobody asks for anything. */
  void begin(CpuTimes now, long nanoTime) {
    before = now;
    since = nanoTime;
  }

  /** Something was done: the interval that has begun does not count. */
  void disturb() {
    before = null;
  }

  /** Ends an interval, if one has begun. */
  void end(CpuTimes now, long nanoTime) {
    CpuTimes first = before;
    before = null;
    if (first == null) {
      return;
    }
    long used = now.since(first);
    if (used >= 0) {
      cpuNanos += used;
      serverNanos += (double) (nanoTime - since) * now.processes();
    }
  }

  /** CPU time of one server in percent of a core; -1 if there was no interval. */
  double percent() {
    return serverNanos == 0 ? -1 : 100 * cpuNanos / serverNanos;
  }
}
