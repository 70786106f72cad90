package io.eventbus.loadtest.faults.history;

/**
 * Event that a reader got.
 *
 * @param at the time before the reader handled it
 * @param where the consumer, the bus and the life of it, for people
 */
public record Sighting(long position, EventName event, long at, String where) {
  @Override
  public String toString() {
    return String.format("%s at position %d, %.3f s, %s", event, position, at / 1e9, where);
  }
}
