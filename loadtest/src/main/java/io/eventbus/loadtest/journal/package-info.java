/**
 * What the store of durable topics takes and costs, by itself: no bus, no log, one thread that
 * writes; and what a shard does with its log.
 */
package io.eventbus.loadtest.journal;
