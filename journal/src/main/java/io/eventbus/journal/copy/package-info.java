/**
 * Copies of the rows of a replica for another one, which lacks entries that are gone from all logs.
 * The rows are those of one snapshot, sent in slices that the receiver asks for.
 */
package io.eventbus.journal.copy;
