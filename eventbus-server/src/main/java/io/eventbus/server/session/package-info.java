/**
 * What one client and its bus have agreed on: the handshake, the subscriptions, what may be
 * published and what is answered. It speaks to the connection only through {@link
 * io.eventbus.server.session.ClientLink}.
 */
package io.eventbus.server.session;
