/**
 * RocksDB as the store of a shard, its only user. Each entry of the shard's log is one batch with
 * the row that says which entry it was; RocksDB writes no log of its own. After a crash the store
 * has the rows of a prefix of the entries, and the shard's log has the rest.
 */
package io.eventbus.journal.store;
