package io.eventbus.server.admin;

/**
 * A topic that the bus knows because somebody publishes to it.
 *
 * @param name the topic
 * @param subscribers connections with a matching subscription
 * @param events events received on it
 * @param deliveries events times the subscribers that they were queued for
 */
public record TopicInfo(String name, int subscribers, long events, long deliveries) {}
