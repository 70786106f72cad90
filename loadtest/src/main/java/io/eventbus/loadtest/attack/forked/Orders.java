package io.eventbus.loadtest.attack.forked;

import io.eventbus.loadtest.attack.wire.BusAddress;
import java.util.Map;

/**
 * What the process is told, as JSON in one line.
 *
 * @param attack its name
 * @param bus what it attacks
 * @param knobs what was set
 * @param seconds how long it attacks
 * @param sources from how many addresses
 */
public record Orders(
    String attack, BusAddress bus, Map<String, Long> knobs, long seconds, int sources) {}
