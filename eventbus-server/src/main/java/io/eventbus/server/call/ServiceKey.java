package io.eventbus.server.call;

/**
 * What a service is known by at a bus: the same name in two accounts is two services. Immutable;
 * any thread.
 *
 * @param account whose it is; empty for the default account
 * @param name its name
 */
public record ServiceKey(String account, String name) {}
