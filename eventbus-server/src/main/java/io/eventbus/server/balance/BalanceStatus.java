package io.eventbus.server.balance;

/**
 * Status of balancing at one moment; the counts are since the start.
 *
 * @param moving clients that were asked to move and have not answered
 * @param expired clients that did not answer in time and were closed
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
