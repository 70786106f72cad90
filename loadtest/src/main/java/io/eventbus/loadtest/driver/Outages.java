package io.eventbus.loadtest.driver;

import java.util.Map;

/**
 * Interruptions of closed loops in the measured part of a run.
 *
 * @param longestGapMillis longest time without a success of any client
 * @param worstClientMillis longest time without a success of one client
 * @param late operations that took longer than an attempt may, repetitions included
 * @param conflicts conditional writes that came too late
 * @param leaderChanges changes of the leader as the servers count them; -1 if unknown
 * @param failedAttempts number of failed attempts by kind, each of which was repeated
 */
public record Outages(
    double longestGapMillis,
    double worstClientMillis,
    long late,
    long conflicts,
    long leaderChanges,
    Map<String, Long> failedAttempts) {
  /** Takes a copy of the attempts. */
  public Outages {
    failedAttempts = Map.copyOf(failedAttempts);
  }
}
