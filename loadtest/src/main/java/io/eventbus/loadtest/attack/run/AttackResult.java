package io.eventbus.loadtest.attack.run;

import io.eventbus.loadtest.attack.AttackTargets;
import io.eventbus.loadtest.attack.Observed;
import io.eventbus.loadtest.attack.honest.HonestOutcome;
import java.util.Map;

/**
 * What one attack came to.
 *
 * @param attack its name
 * @param round from 1
 * @param knobs what was set
 * @param seconds how long it lasted
 * @param targets those that are its own
 * @param bus what became of it
 * @param honest what the pairs came to
 * @param quietHealth its health before the attack
 * @param health its health from the begin of the attack until after the recovery
 * @param memory of its process
 * @param observed what the attackers saw
 */
public record AttackResult(
    String attack,
    int round,
    Map<String, Long> knobs,
    double seconds,
    AttackTargets targets,
    BusEnd bus,
    HonestOutcome honest,
    Health quietHealth,
    Health health,
    Memory memory,
    Observed observed) {}
