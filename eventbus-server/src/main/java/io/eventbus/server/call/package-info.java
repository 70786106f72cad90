/**
 * Calls of services on one bus: members of services, dispatch of calls, waiting calls, and
 * completion. It knows callers and members only as {@link io.eventbus.server.call.CallerPort} and
 * {@link io.eventbus.server.call.MemberPort}; no frames, no I/O, no clock of its own.
 */
package io.eventbus.server.call;
