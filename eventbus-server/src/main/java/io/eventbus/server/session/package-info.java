/**
 * Session of a client and its bus: handshake, subscriptions, publishing and answers. It reaches the
 * connection only through {@link io.eventbus.server.session.ClientLink}.
 */
package io.eventbus.server.session;
