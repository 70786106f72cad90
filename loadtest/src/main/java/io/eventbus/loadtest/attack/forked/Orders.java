package io.eventbus.loadtest.attack.forked;

import io.eventbus.loadtest.attack.wire.BusAddress;
import java.util.Map;

/**
 * Orders to the process, as JSON in one line.
 *
 * @param seconds how long it attacks
 */
public record Orders(
    String attack, BusAddress bus, Map<String, Long> knobs, long seconds, int sources) {}
