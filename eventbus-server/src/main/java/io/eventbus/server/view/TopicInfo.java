package io.eventbus.server.view;

/** Topic that the bus knows because a client publishes to it. */
public record TopicInfo(String name, int subscribers, long events, long deliveries) {}
