/**
 * Frames that wait to be written to a client: the bounded queue of a connection and its policies
 * for a full one. It writes to a {@link io.eventbus.server.queue.MessageSink} and knows neither
 * sockets nor WebSocket.
 */
package io.eventbus.server.queue;
