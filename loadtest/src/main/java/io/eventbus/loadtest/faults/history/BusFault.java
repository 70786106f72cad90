package io.eventbus.loadtest.faults.history;

/**
 * Fault of a bus, which may cost its consumers what they have, and tell them late or never.
 *
 * @param begin the time before it
 * @param end the time at which all buses took clients again
 */
public record BusFault(String bus, long begin, long end) {}
