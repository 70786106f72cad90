package io.eventbus.server.call;

/**
 * The bounds of calls, from the configuration.
 *
 * @param callsInFlight calls of one connection
 * @param timeoutNanos how long a caller waits that does not say it
 * @param maxTimeoutNanos how long a caller may wait; more is cut down to it
 * @param maxWaitNanos for how long the most urgent calls may expect to wait for a member; those of
 *     normal priority half of it, those of low priority a tenth
 * @param retries how often a call that may be executed twice is given to another member
 * @param retryPercent how many calls of a service, of a hundred, may be given to another member
 *     after they were perhaps executed; ten each second always may
 * @param queueRequests calls of one service that may wait
 * @param queueBytes bytes that may wait, of all services
 * @param gather members that the requests of one connection to all members may wait for
 */
public record CallSettings(
    int callsInFlight,
    long timeoutNanos,
    long maxTimeoutNanos,
    long maxWaitNanos,
    int retries,
    int retryPercent,
    int queueRequests,
    long queueBytes,
    int gather) {}
