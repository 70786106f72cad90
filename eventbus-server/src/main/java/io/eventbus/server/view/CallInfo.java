package io.eventbus.server.view;

import com.fasterxml.jackson.annotation.JsonFormat;

/**
 * Call in flight.
 *
 * @param member the number of the member that has it; 0 while it waits
 * @param attempt how often it was sent or given to a member before
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
