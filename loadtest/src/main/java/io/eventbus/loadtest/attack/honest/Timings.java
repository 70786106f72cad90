package io.eventbus.loadtest.attack.honest;

/**
 * Durations in each phase.
 *
 * @param quiet before the attack
 * @param after what was due after it
 */
public record Timings(Latency quiet, Latency attack, Latency after) {
  static Timings of(Phases phases) {
    return new Timings(phases.quietLatency(), phases.attackLatency(), phases.afterLatency());
  }

  /**
   * Returns the longest from the begin of the attack on.
   *
   * @return in milliseconds
   */
  public double worst() {
    return Math.max(attack.max(), after.max());
  }
}
