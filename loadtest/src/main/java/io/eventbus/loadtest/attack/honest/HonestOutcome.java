package io.eventbus.loadtest.attack.honest;

/**
 * Outcome of the honest pairs and callers.
 *
 * @param events of all pairs
 * @param quiet latency before the attack
 * @param attack latency of what was due during the attack, or was held up by it
 * @param after latency of what was due after it
 * @param bulkQuiet bytes per second that the large pair received before the attack, 0 without one
 * @param bulkAttack bytes per second that it received during the attack
 * @param calls of all callers
 * @param callTimes how long they took
 * @param control how long a socket without the bus took
 */
public record HonestOutcome(
    PairOutcome events,
    Latency quiet,
    Latency attack,
    Latency after,
    double bulkQuiet,
    double bulkAttack,
    CallOutcome calls,
    Timings callTimes,
    Timings control) {}
