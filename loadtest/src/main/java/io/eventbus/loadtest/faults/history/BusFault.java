package io.eventbus.loadtest.faults.history;

/**
 * Fault of a bus, which may cost its consumers what they have, and tell them late or never.
 *
 * @param begin the time before it
 * @param end the time from which on its consumers lose nothing any more because of it
 * @param counts whether each loss because of it is an attempt
 */
public record BusFault(String bus, long begin, long end, boolean counts) {}
