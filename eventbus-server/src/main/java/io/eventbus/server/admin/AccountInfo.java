package io.eventbus.server.admin;

/**
 * An account that has clients at this bus; the default one, whose name is empty, is not among them.
 *
 * @param name its name
 * @param connections clients that were welcomed
 * @param subscriptions their subscriptions; of one connection those that are equal count once
 */
public record AccountInfo(String name, int connections, long subscriptions) {}
