package io.eventbus.journal.read;

import java.util.function.LongPredicate;

/**
 * Question of a reader.
 *
 * @param from the first position that it wants, 1 or more
 * @param topics which topics it wants
 * @param maxBytes bytes after which the read ends: those that it reads, whether or not the reader
 *     wants what is in them. It always gets past one chunk
 * @param now time of the shard in milliseconds, by which events are expired
 */
public record ReadRequest(long from, LongPredicate topics, long maxBytes, long now) {
  /** Checks the position. */
  public ReadRequest {
    if (from < 1) {
      throw new IllegalArgumentException("from: " + from + " (expected: >= 1)");
    }
  }
}
