package io.eventbus.server.call;

/**
 * A call that has not ended, as operators see it.
 *
 * @param account the account of its service
 * @param service its service
 * @param method what it asks for
 * @param caller the caller's producer number
 * @param request the caller's number of it
 * @param waits whether nobody has it yet
 * @param member the number of the member that has it, 0 while it waits or another bus has it
 * @param attempt how often it was sent or given to a member before
 * @param ageNanos how long ago it came to the bus
 * @param leftNanos how long it has still
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
