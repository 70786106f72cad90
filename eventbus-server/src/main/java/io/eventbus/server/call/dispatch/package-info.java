/**
 * Dispatch of calls: which member gets a call, what waits where no place is free, and what may
 * wait. It knows calls, members, services and its loop only as {@link
 * io.eventbus.server.call.dispatch.QueuedCall}, {@link
 * io.eventbus.server.call.dispatch.CandidateMember}, {@link
 * io.eventbus.server.call.dispatch.CandidateService}, {@link
 * io.eventbus.server.call.dispatch.QueuedService} and {@link
 * io.eventbus.server.call.dispatch.DispatchLoop}; no I/O, no clock.
 */
package io.eventbus.server.call.dispatch;
