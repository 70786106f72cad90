package io.eventbus.server.admin;

/** Topic that the bus knows because a client publishes to it. */
public record TopicInfo(String name, int subscribers, long events, long deliveries) {}
