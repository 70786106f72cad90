package io.eventbus.server.routing;

/**
 * How much was published to a topic on one loop, since the loop last forgot it.
 *
 * @param topic the topic
 * @param events events published
 * @param deliveries events times the subscribers and groups that they were for
 */
public record TopicCount(String topic, long events, long deliveries) {}
