/**
 * Streams and tunnels after a member has accepted them: how much each of their ends may send, what
 * the other one is told, and how they end. It knows connections only as {@link
 * io.eventbus.server.call.tunnel.TunnelEnds} and loops as {@link
 * io.eventbus.server.call.tunnel.TunnelLoop}; no I/O, no clock.
 */
package io.eventbus.server.call.tunnel;
