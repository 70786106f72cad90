/**
 * Chunks: the form in which the events of a journal are stored. A chunk holds events of consecutive
 * positions as frames that can be sent as they are, and its checksum; beside it lies an index row,
 * by which readers see whether they want it.
 */
package io.eventbus.journal.chunk;
