/**
 * Rows of a shard as its rules see them: keys and values of bytes, sorted by key. {@link
 * io.eventbus.journal.rows.Rows} is the port that a store implements.
 */
package io.eventbus.journal.rows;
