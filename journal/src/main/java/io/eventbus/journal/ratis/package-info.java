/**
 * Shards as Raft groups: the log of a shard is that of a group of Apache Ratis, its rows are in a
 * store, and the port {@link io.eventbus.journal.Journals} leads to both.
 */
package io.eventbus.journal.ratis;
