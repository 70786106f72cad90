/**
 * Counters that the hot path writes without contention and that anybody may read. Each has one
 * writing thread; sums are made by the reader.
 */
package io.eventbus.server.stats;
