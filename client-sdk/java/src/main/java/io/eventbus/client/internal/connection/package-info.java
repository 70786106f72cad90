/**
 * Connections of a client to buses: connecting, reconnecting, moving, tokens and silence. {@link
 * io.eventbus.client.internal.connection.Connector} decides; {@link
 * io.eventbus.client.internal.connection.FrameDispatcher} reads what a bus sends.
 */
@org.jspecify.annotations.NullMarked
package io.eventbus.client.internal.connection;
