package io.eventbus.journal;

/**
 * Content of a journal in figures.
 *
 * @param firstPosition the first position that was not trimmed, 1 or more
 * @param lastPosition the last position that an event got, 0 before the first
 * @param events number of events that are kept
 * @param bytes what they take in the store
 * @param topics number of topics that have a last event which was not trimmed
 * @param producers number of producers that are known, each counted in each of its topics
 * @param delayed number of events that wait for their time
 * @param delayedBytes what these take
 * @param cursors number of cursors
 * @param stamp the shard's time, in milliseconds since the epoch
 */
public record JournalFigures(
    long firstPosition,
    long lastPosition,
    long events,
    long bytes,
    long topics,
    long producers,
    long delayed,
    long delayedBytes,
    long cursors,
    long stamp) {}
