/**
 * Implementation behind the public API: the connection's state machine, batching on the way out,
 * dispatch on the way in. It reaches the network only through the port {@link
 * io.eventbus.client.internal.Transport}.
 */
package io.eventbus.client.internal;
