package io.eventbus.loadtest.faults.history;

/**
 * Connection of a client with a bus, until its next one.
 *
 * @param since the time when the client was told that it is connected
 */
public record ClientConnection(String client, String bus, long since) {}
