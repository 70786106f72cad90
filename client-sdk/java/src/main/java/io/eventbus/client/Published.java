package io.eventbus.client;

/**
 * Confirmation of a published event: the bus took the event and handed it to the queues of the
 * subscribers that it knew of.
 *
 * @param topic the topic
 * @param producer the number that the bus knows this client by
 * @param sequence the event's number among this client's events of the topic, from 1
 * @param receivers how many subscribers of the bus, plus how many other buses, the event was queued
 *     for; 0 when nobody was subscribed, -1 when the bus did not say
 */
public record Published(String topic, long producer, long sequence, long receivers) {}
