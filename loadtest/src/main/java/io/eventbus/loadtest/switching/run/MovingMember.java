package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.switching.Client;
import java.util.function.IntPredicate;

/**
 * A subscriber of a crowd.
 *
 * @param gets the publishers whose events must come
 */
record MovingMember(Client client, Watch watch, IntPredicate gets) {}
