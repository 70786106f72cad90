/**
 * Sockets: from the bytes of a TCP connection to whole WebSocket messages and back, with every
 * bound and deadline that goes with it, on loops that each own their connections. With {@link
 * io.eventbus.server.transport.websocket} the only user of Netty beyond its buffers.
 */
package io.eventbus.server.transport;
