package io.eventbus.client.internal.durable;

import io.eventbus.client.Truncated;
import org.jspecify.annotations.Nullable;

/** Journal as a worker knows it. Guarded by the lock of its {@link WorkerFeeds}. */
final class WorkerJournal {
  // 0 while it is not known.
  private long creation;
  private long lastFed;
  private long head;

  /** Returns the creation of the journal; 0 while it is not known. */
  long creation() {
    return creation;
  }

  /** Notes the last position that was fed, and the last one of the journal. */
  void fed(long to, long end) {
    lastFed = Math.max(lastFed, to);
    head = Math.max(head, end);
  }

  /**
   * Notes which creation of the journal a bus has told; 0 for unknown. Returns what does not come
   * because the one before was deleted, or null.
   */
  @Nullable Truncated accepted(String filter, long told) {
    if (told == 0 || told == creation) {
      return null;
    }
    long next = lastFed + 1;
    boolean replaced = creation != 0 && lastFed > 0;
    Truncated rest =
        replaced
            ? new Truncated(filter, next, Math.max(next, head), Truncated.Reason.DELETED)
            : null;
    creation = told;
    lastFed = 0;
    head = 0;
    return rest;
  }
}
