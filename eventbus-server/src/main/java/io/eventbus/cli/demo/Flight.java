package io.eventbus.cli.demo;

/**
 * A line of the demo's data: something that happened to a flight.
 *
 * @param line its number, from 0
 * @param topic where it is published
 * @param airport second token of the topic
 * @param millis when it happened, since the epoch
 */
public record Flight(
    int line, String topic, String airport, String kind, String key, long millis, String payload) {}
