package io.eventbus.client;

import java.time.Instant;

/**
 * Time in which a subscription was not in force, because its connection was lost. Any event of that
 * time may be missing, also of topics and publishers that were not seen before, and of groups. A
 * {@link Gap} reports missing events of which more is known; each lost connection is reported as an
 * interruption, whether or not a gap is known.
 *
 * @param filter of the subscription
 * @param from when the client last heard of the bus that it lost
 * @param to when a bus had confirmed the subscription again: every event that is published later is
 *     delivered as before
 */
public record Interruption(String filter, Instant from, Instant to) {}
