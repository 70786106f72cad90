/**
 * Format of the entries of a shard's log and of the definitions in its rows: written into and read
 * from buffers in place, with every length checked against the bytes that are left.
 */
package io.eventbus.journal.codec;
