package io.eventbus.server.admin;

/** A topic that the bus knows because somebody publishes to it. */
public record TopicInfo(String name, int subscribers, long events, long deliveries) {}
