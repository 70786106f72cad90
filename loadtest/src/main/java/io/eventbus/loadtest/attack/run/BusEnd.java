package io.eventbus.loadtest.attack.run;

/**
 * What became of the bus's process.
 *
 * @param alive whether it ran at the end
 * @param exitCode how it ended, -1 if it did not
 * @param afterSeconds from the begin of the attack until it ended, or was seen alive
 * @param connections open ones after the recovery, negative if unknown
 * @param logLines written from the begin of the attack on
 * @param logBytes likewise
 * @param logTail the end of the log, if it has ended
 */
public record BusEnd(
    boolean alive,
    int exitCode,
    double afterSeconds,
    long connections,
    long logLines,
    long logBytes,
    String logTail) {}
