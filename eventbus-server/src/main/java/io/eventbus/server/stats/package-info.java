/**
 * Counters that the hot path writes without contention and that anybody may read. Each has one
 * writing thread; the reader sums up.
 */
package io.eventbus.server.stats;
