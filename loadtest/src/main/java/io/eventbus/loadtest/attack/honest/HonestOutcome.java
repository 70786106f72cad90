package io.eventbus.loadtest.attack.honest;

/**
 * Outcome of the honest pairs and callers.
 *
 * @param quiet latency before the attack
 * @param after latency of what was due after it
 * @param durable the same of the pairs with a durable topic, of zeros where there is none
 * @param bulkQuiet bytes per second that the large pair received before the attack, 0 without one
 * @param bulkAttack bytes per second that it received during the attack
 */
public record HonestOutcome(
    PairOutcome events,
    Latency quiet,
    Latency attack,
    Latency after,
    Timings durable,
    double bulkQuiet,
    double bulkAttack,
    CallOutcome calls,
    Timings callTimes,
    Timings control) {}
