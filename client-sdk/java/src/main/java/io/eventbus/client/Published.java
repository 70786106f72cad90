package io.eventbus.client;

/**
 * What a bus has confirmed: it took the event and handed it to the queues of the subscribers that
 * it knew of.
 *
 * @param topic the topic
 * @param producer the number that the bus knows this client by
 * @param sequence the event's number among this client's events of the topic, from 1
 */
public record Published(String topic, long producer, long sequence) {}
