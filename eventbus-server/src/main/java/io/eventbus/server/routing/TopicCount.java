package io.eventbus.server.routing;

/**
 * How much was published to a topic on one loop, since the loop last forgot it.
 *
 * @param account whose topic it is; empty for the default account
 */
public record TopicCount(String account, String topic, long events, long deliveries) {}
