/**
 * Streams and tunnels after a member has accepted them: credit of each end, and how they end. It
 * knows connections only as {@link io.eventbus.server.call.tunnel.TunnelEnds} and loops as {@link
 * io.eventbus.server.call.tunnel.TunnelLoop}; no I/O, no clock.
 */
package io.eventbus.server.call.tunnel;
