/**
 * Session of a client and its bus: handshake, subscriptions, publishing and answers. It reaches the
 * client through {@link io.eventbus.server.queue.Outbound} and {@link
 * io.eventbus.server.session.ConnectionControl}.
 */
package io.eventbus.server.session;
