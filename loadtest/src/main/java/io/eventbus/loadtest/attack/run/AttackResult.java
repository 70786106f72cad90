package io.eventbus.loadtest.attack.run;

import io.eventbus.loadtest.attack.AttackTargets;
import io.eventbus.loadtest.attack.Observed;
import io.eventbus.loadtest.attack.honest.HonestOutcome;
import java.util.Map;

/**
 * Result of an attack.
 *
 * @param seconds how long it lasted
 * @param quietHealth its health before the attack
 * @param health its health from the begin of the attack until after the recovery
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
