package io.eventbus.loadtest.attack.run;

/**
 * End of the bus's process.
 *
 * @param exitCode how it ended, -1 if it did not
 * @param afterSeconds from the begin of the attack until it ended, or was seen alive
 * @param connections open ones after the recovery, negative if unknown
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
