package io.eventbus.client;

import java.net.URI;

/**
 * Connection of a client.
 *
 * @param url the address of the bus
 * @param bus the name of the bus
 * @param session the bus's name for this connection
 * @param producer the number that this client publishes under; kept across reconnects
 */
public record ConnectionInfo(URI url, String bus, String session, long producer) {}
