package io.eventbus.loadtest.attack.run;

import java.util.Map;

/**
 * Settings of a run of attacks.
 *
 * @param seconds how long an attack lasts at least
 * @param nice the nice value of the attackers' process, 0 to 19; with 19 it takes processor time
 *     that others leave, as if it ran on a machine of its own
 */
public record AttackPlan(
    int pairs, int quietSeconds, int seconds, int sources, int nice, Map<String, Long> options) {
  private static final int MAX_SOURCES = 250;
  private static final int NICEST = 19;

  /** Checks the figures. */
  public AttackPlan {
    if (pairs < 1) {
      throw new IllegalArgumentException("pairs: " + pairs + " (expected: >= 1)");
    }
    if (quietSeconds < 1) {
      throw new IllegalArgumentException("quiet: " + quietSeconds + " (expected: >= 1)");
    }
    if (seconds < 1) {
      throw new IllegalArgumentException("seconds: " + seconds + " (expected: >= 1)");
    }
    if (sources < 0 || sources > MAX_SOURCES) {
      throw new IllegalArgumentException(
          "sources: " + sources + " (expected: 0.." + MAX_SOURCES + ")");
    }
    if (nice < 0 || nice > NICEST) {
      throw new IllegalArgumentException("nice: " + nice + " (expected: 0.." + NICEST + ")");
    }
    options = Map.copyOf(options);
  }
}
