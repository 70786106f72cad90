package io.eventbus.server.balance;

/**
 * What balancing does at one moment; the counts are since the start.
 *
 * @param load the smoothed load, 1 for all that the bus can do
 * @param overloaded whether the bus has too much to do
 * @param draining whether it moves all of its clients away
 * @param moving clients that were asked to move and have not answered
 * @param moved clients that went
 * @param stayed clients that said that they stay
 * @param expired clients that did not answer in time and were closed
 * @param arrived clients that other buses were allowed to send
 * @param refused clients that other buses were not allowed to send
 */
public record BalanceStatus(
    double load,
    boolean overloaded,
    boolean draining,
    long moving,
    long moved,
    long stayed,
    long expired,
    long arrived,
    long refused) {}
