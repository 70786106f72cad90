package io.eventbus.loadtest.run;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Finds what one subscriber lost, got twice or got out of order, by the numbers in the events.
 *
 * <p>A stream is what one publisher sends to one topic, numbered from 1. As long as each number
 * follows the one before, a stream costs one comparison and one store in an array. A number that
 * jumps leaves a hole, kept apart; a number that fills a hole came late (reordered), any other old
 * number came twice. What is still a hole at the end is lost. One thread writes; any thread may
 * read.
 */
public final class SequenceCheck {
  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

  /** Beyond so many holes no more are told apart: a late event then counts as doubled. */
  private static final int MAX_HOLES = 1_000_000;

  private final long[] highest;
  private final Map<Integer, TreeMap<Long, Long>> holes = new HashMap<>();
  private final AtomicLong missing = new AtomicLong();
  private final AtomicLong doubled = new AtomicLong();
  private final AtomicLong reordered = new AtomicLong();
  private int holeCount;

  /** Creates it. */
  public SequenceCheck(int streams) {
    this.highest = new long[streams];
  }

  /**
   * Takes the next event.
   *
   * @param stream from 0
   */
  public void accept(int stream, long number) {
    long before = highest[stream];
    if (number == before + 1) {
      // Release: who sees the number also sees what was recorded before.
      CELL.setRelease(highest, stream, number);
    } else if (number > before) {
      jump(stream, before, number);
    } else {
      late(stream, number);
    }
  }

  /**
   * Begins a stream later than with number 1.
   *
   * @param stream from 0, of which nothing has come
   * @param before the last number that is not to come
   */
  public void begin(int stream, long before) {
    CELL.setRelease(highest, stream, before);
  }

  private void jump(int stream, long before, long number) {
    missing.addAndGet(number - before - 1);
    if (holeCount < MAX_HOLES) {
      holes.computeIfAbsent(stream, s -> new TreeMap<>()).put(before + 1, number - 1);
      holeCount++;
    }
    CELL.setRelease(highest, stream, number);
  }

  private void late(int stream, long number) {
    @Nullable TreeMap<Long, Long> ofStream = holes.get(stream);
    Map.@Nullable Entry<Long, Long> hole = ofStream == null ? null : ofStream.floorEntry(number);
    if (ofStream == null || hole == null || hole.getValue() < number) {
      doubled.incrementAndGet();
      return;
    }
    reordered.incrementAndGet();
    missing.decrementAndGet();
    ofStream.remove(hole.getKey());
    holeCount--;
    if (hole.getKey() < number) {
      ofStream.put(hole.getKey(), number - 1);
      holeCount++;
    }
    if (number < hole.getValue()) {
      ofStream.put(number + 1, hole.getValue());
      holeCount++;
    }
  }

  /**
   * Returns the highest number of a stream.
   *
   * @param stream from 0
   * @return 0 before the first
   */
  public long highest(int stream) {
    return (long) CELL.getAcquire(highest, stream);
  }

  /** Counts what is lost so far. */
  public long missing() {
    return missing.get();
  }

  /** Counts what came again. */
  public long doubled() {
    return doubled.get();
  }

  /** Counts what came after a later one. */
  public long reordered() {
    return reordered.get();
  }
}
