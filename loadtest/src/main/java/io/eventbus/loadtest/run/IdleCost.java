package io.eventbus.loadtest.run;

/**
 * What connections cost that do nothing.
 *
 * @param connections how many were open
 * @param connectsPerSecond how many of them the server let in each second, when they were opened a
 *     second time
 * @param rssBytesEach by how much the server's resident memory grew for each the first time
 * @param lost how many the server closed
 */
public record IdleCost(int connections, double connectsPerSecond, double rssBytesEach, long lost) {}
