package io.eventbus.cli;

/**
 * Detector of quiet phases, in which a process should collect its garbage: once, until it has been
 * busy again. For one thread.
 */
final class QuietPhase {
  /**
   * Share of one processor below which a process is quiet; far more than an idle member of a
   * cluster takes.
   */
  static final double QUIET_SHARE = 0.15;

  private long lastNanos;
  private long lastCpuNanos;
  private boolean due = true;
  private long collectionsBefore = -1;

  QuietPhase(long nowNanos, long cpuNanos) {
    lastNanos = nowNanos;
    lastCpuNanos = cpuNanos;
  }

  /**
   * Samples the process.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  boolean look(long nowNanos, long cpuNanos, long collections) {
    double share = (cpuNanos - lastCpuNanos) / (double) Math.max(1, nowNanos - lastNanos);
    lastNanos = nowNanos;
    lastCpuNanos = cpuNanos;
    if (share > QUIET_SHARE) {
      due = true;
      collectionsBefore = -1;
      return false;
    }
    if (collectionsBefore < 0) {
      collectionsBefore = collections;
    } else if (collections > collectionsBefore) {
      due = false;
    }
    return due;
  }
}
