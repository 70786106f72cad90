package io.eventbus.journal;

import org.jspecify.annotations.Nullable;

/**
 * Reader of a journal, which gives out what is committed. For one thread at a time, which may wait
 * for the disk. Holds nothing between calls.
 */
public interface StoredEventReader {
  /**
   * Reads on from a position. Of a journal that keeps only last events, position 1 begins with the
   * last event of each topic; positions of events that were replaced are passed over.
   *
   * @param from the first position that is wanted, 1 or more
   * @param maxBytes bytes after which the read ends: those that it reads, whether or not they are
   *     wanted. It always gets past one chunk
   * @return what was found; null if there is no such journal
   * @throws JournalsUnavailableException if it cannot be read now; another try may succeed
   */
  @Nullable ReadBatch read(long from, long maxBytes);
}
