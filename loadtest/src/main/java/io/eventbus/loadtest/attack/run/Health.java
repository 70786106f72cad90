package io.eventbus.loadtest.attack.run;

/**
 * Findings of a probe of the bus's health.
 *
 * @param worstMillis the longest that an answer took; one that did not come counts with the time
 *     that was waited
 * @param bad answers other than 200, or none within a second
 */
public record Health(double worstMillis, long asked, long bad) {}
