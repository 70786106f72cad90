package io.eventbus.journal;

/**
 * Event that no consumer of a shared cursor gets any more.
 *
 * @param position its position
 * @param attempts how often it was delivered
 * @param reason why the last delivery failed; empty for none
 * @param stamp when it died, in milliseconds of the shard's time
 */
public record DeadEvent(long position, int attempts, String reason, long stamp) {}
