package io.eventbus.server.call;

/**
 * Member of a service as operators see it.
 *
 * @param window calls that it may be given at once
 * @param outstanding calls that it was given and has not answered
 */
public record MemberFigures(
    long number,
    int loop,
    int concurrency,
    int window,
    int outstanding,
    long latencyMicros,
    long completions) {}
