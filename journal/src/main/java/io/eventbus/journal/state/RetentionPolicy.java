package io.eventbus.journal.state;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.Retention;
import io.eventbus.journal.chunk.ChunkIndex;
import java.util.Iterator;

/**
 * Choice of the events that a journal does not keep any longer. The leader of the shard asks for
 * their removal. Pure.
 */
public final class RetentionPolicy {
  /**
   * Events that are removed together: a chunk, or one of a journal that keeps only last events.
   *
   * @param lastPosition the position of the last of them
   * @param lastStamp the shard's time when it was stored, in milliseconds
   * @param events how many they are
   * @param bytes what they take
   */
  public record Removable(long lastPosition, long lastStamp, long events, long bytes) {
    /** Returns the events of a chunk. */
    public static Removable of(ChunkIndex index) {
      return new Removable(index.lastPosition(), index.lastStamp(), index.events(), index.bytes());
    }
  }

  private RetentionPolicy() {}

  /**
   * Returns the position up to which events are removed. What is left has at least the bytes and
   * events that the journal may keep, unless all of it is too old. A journal that refuses new
   * events when it is full loses only what is too old.
   *
   * @param oldest the oldest first; read as far as is needed
   * @param stamp the shard's time, in milliseconds
   * @return 0 if nothing is to be removed
   */
  public static long trimUpTo(
      JournalDefinition definition,
      JournalCounters counters,
      Iterator<Removable> oldest,
      long stamp) {
    Retention retention = definition.retention();
    boolean drops = definition.full() == FullPolicy.DROP_OLD;
    long bytes = counters.bytes();
    long events = counters.events();
    long upTo = 0;
    while (oldest.hasNext()) {
      Removable next = oldest.next();
      bytes -= next.bytes();
      events -= next.events();
      boolean tooOld =
          retention.ageMillis() > 0 && stamp - next.lastStamp() > retention.ageMillis();
      boolean tooMany =
          drops && (isOver(retention.bytes(), bytes) || isOver(retention.events(), events));
      if (!tooOld && !tooMany) {
        return upTo;
      }
      upTo = next.lastPosition();
    }
    return upTo;
  }

  private static boolean isOver(long bound, long left) {
    return bound > 0 && left >= bound;
  }
}
