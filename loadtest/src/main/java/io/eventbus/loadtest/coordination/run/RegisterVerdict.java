package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.run.Integrity;

/** Compares what a system holds with what it has acknowledged. */
final class RegisterVerdict {
  private RegisterVerdict() {}

  /**
   * Judges a register that was written with 1, 2, 3 …
   *
   * @param uncertain number of further writes that may have been carried out
   */
  static Integrity of(long acknowledged, long found, long writes, long uncertain) {
    long lost = Math.max(0, acknowledged - Math.min(found, writes));
    return new Integrity(lost, Math.max(0, writes - acknowledged - uncertain), 0, 0);
  }

  /** Judges a register that is gone: its creation was acknowledged, too. */
  static Integrity absent(long acknowledged) {
    return new Integrity(Math.max(1, acknowledged), 0, 0, 0);
  }

  /** Returns the worse of two verdicts on the same register: what was wrong once stays wrong. */
  static Integrity worse(Integrity one, Integrity other) {
    return new Integrity(
        Math.max(one.lost(), other.lost()),
        Math.max(one.doubled(), other.doubled()),
        0,
        Math.max(one.foreign(), other.foreign()));
  }
}
