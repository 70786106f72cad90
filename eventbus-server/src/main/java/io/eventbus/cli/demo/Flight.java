package io.eventbus.cli.demo;

/**
 * Line of the demo's data: an event of a flight.
 *
 * @param line its number, from 0
 * @param topic topic of the event
 * @param airport second token of the topic
 * @param millis time of the event, since the epoch
 */
public record Flight(
    int line, String topic, String airport, String kind, String key, long millis, String payload) {
  /** Returns it at an even time: the nights of the data would be pauses of the load. */
  Flight evenly() {
    return new Flight(line, topic, airport, kind, key, line, payload);
  }
}
