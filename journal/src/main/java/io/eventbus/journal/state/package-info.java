/**
 * The rules of a shard: {@link io.eventbus.journal.state.Shard#apply} turns an entry of its log
 * into changes of rows and results. They are pure and deterministic, with no clock, no I/O and no
 * randomness, so that every member that applies the same entries holds the same rows.
 */
package io.eventbus.journal.state;
