/**
 * Speed and cost of durable topics without a bus: of the store alone, to which one thread writes,
 * and of a shard with its log.
 */
package io.eventbus.loadtest.journal;
