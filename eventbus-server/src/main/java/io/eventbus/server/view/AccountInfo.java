package io.eventbus.server.view;

/**
 * Account that has clients at this bus; the default one, whose name is empty, is not among them.
 */
public record AccountInfo(String name, int connections, long subscriptions) {}
