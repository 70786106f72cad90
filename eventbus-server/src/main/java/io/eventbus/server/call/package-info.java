/**
 * Calls of services on one bus: services and their members, callers, the way of a call from loop to
 * loop, and completion. It knows callers and members only as {@link
 * io.eventbus.server.call.CallerPort} and {@link io.eventbus.server.call.MemberPort}; no frames, no
 * I/O, no clock of its own. Which member gets a call is in {@link
 * io.eventbus.server.call.dispatch}.
 */
package io.eventbus.server.call;
