package io.eventbus.server.admin;

import com.fasterxml.jackson.annotation.JsonFormat;

/**
 * A call that has not ended.
 *
 * @param account the account of its service
 * @param service its service
 * @param method what it asks for
 * @param caller the caller's producer number; a string in JSON, as a member's number
 * @param request the caller's number of the call
 * @param member the number of the member that has it; 0 while it waits
 * @param state {@code QUEUED} or {@code DISPATCHED}
 * @param attempt how often it was sent or given to a member before
 * @param ageMillis how long ago it came to the bus
 * @param leftMillis how long it has still
 */
public record CallInfo(
    String account,
    String service,
    String method,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long caller,
    long request,
    @JsonFormat(shape = JsonFormat.Shape.STRING) long member,
    String state,
    int attempt,
    long ageMillis,
    long leftMillis) {}
