package io.eventbus.loadtest.faults.history;

/**
 * Name of an event, which its payload carries.
 *
 * @param producer the publisher, unique in a history
 * @param number of the event among those of its producer and topic, from 1
 */
public record EventName(String producer, String topic, long number) {
  @Override
  public String toString() {
    return producer + "/" + topic + "#" + number;
  }
}
