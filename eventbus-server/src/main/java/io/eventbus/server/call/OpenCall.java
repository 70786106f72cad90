package io.eventbus.server.call;

/**
 * Open call as operators see it.
 *
 * @param member number of the member that has it, 0 while it waits or a peer has it
 * @param attempt how often it was sent or given to a member before
 */
public record OpenCall(
    String account,
    String service,
    String method,
    long caller,
    long request,
    boolean waits,
    long member,
    int attempt,
    long ageNanos,
    long leftNanos) {}
