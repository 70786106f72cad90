package io.eventbus.loadtest.run;

/**
 * Cost of connections that do nothing.
 *
 * @param connectsPerSecond how many of them the server let in each second, when they were opened a
 *     second time
 */
public record IdleCost(int connections, double connectsPerSecond, double rssBytesEach, long lost) {}
