package io.eventbus.server.routing;

/**
 * Number of events published to a topic on one loop, since the loop last forgot it.
 *
 * @param account of the topic; empty for the default account
 */
public record TopicCount(String account, String topic, long events, long deliveries) {}
