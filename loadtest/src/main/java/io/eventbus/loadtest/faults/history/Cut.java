package io.eventbus.loadtest.faults.history;

/**
 * Range of positions whose events a reader was told not to get.
 *
 * @param from the first position
 * @param to the last position
 * @param reason as it was told
 */
public record Cut(long from, long to, String reason) {
  boolean has(long position) {
    return from <= position && position <= to;
  }
}
