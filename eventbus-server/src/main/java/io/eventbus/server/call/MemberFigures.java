package io.eventbus.server.call;

/**
 * A member of a service as operators see it.
 *
 * @param number its number
 * @param loop the event loop of its connection
 * @param concurrency calls that it works on at once, as it has said
 * @param window calls that it may be given at once
 * @param outstanding calls that it has been given and has not answered
 * @param latencyMicros from giving it a call to its answer, as the choice of a member sees it
 * @param completions calls that it has answered
 */
public record MemberFigures(
    long number,
    int loop,
    int concurrency,
    int window,
    int outstanding,
    long latencyMicros,
    long completions) {}
