package io.eventbus.server.security;

/**
 * Where credentials come from, for what costs so much that one place must not have all of it.
 *
 * @param address equal for all clients that share the limits of one address
 * @param failsOften whether credentials from there were wrong several times lately
 */
public record Origin(Object address, boolean failsOften) {}
