package io.eventbus.server.balance;

/**
 * Load of a peer, or of this bus.
 *
 * @param load its load, -1 if it has not told
 * @param clients its open connections, -1 if it has not told
 * @param ageMillis how long ago it told, 0 for this bus
 */
public record BusLoad(
    String bus,
    String zone,
    String state,
    double load,
    long clients,
    boolean overloaded,
    boolean draining,
    long ageMillis) {}
