package io.eventbus.server.call.dispatch;

/**
 * Bounds of waiting calls from the configuration.
 *
 * @param maxWaitNanos time that calls wait for a member before further calls of high priority are
 *     refused; half of it for normal priority, a tenth for low priority
 * @param queueRequests maximum waiting calls of one service
 * @param queueBytes maximum waiting bytes of all services
 */
public record WaitLimits(long maxWaitNanos, int queueRequests, long queueBytes) {}
