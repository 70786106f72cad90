/**
 * Calls of services on one bus: which members serve a service, which of them gets a call, what
 * waits, and how each call ends. It knows callers and members only as {@link
 * io.eventbus.server.call.CallerPort} and {@link io.eventbus.server.call.MemberPort}; no frames, no
 * I/O, no clock of its own.
 */
package io.eventbus.server.call;
