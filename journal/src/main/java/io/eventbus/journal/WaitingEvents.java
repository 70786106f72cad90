package io.eventbus.journal;

/**
 * Events of a shared cursor that were given back and wait for a consumer, or for their time.
 *
 * @param due when a consumer may take them, in milliseconds of the shard's time
 * @param from the first position
 * @param to the last position
 * @param attempt number of the next delivery
 */
public record WaitingEvents(long due, long from, long to, int attempt) {}
