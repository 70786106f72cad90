package io.eventbus.client.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What is known about the events of one producer and topic: which were received, which were told as
 * missing, which were handled.
 *
 * <p>Received events are judged in one of two ways. A connection that has a subscription without a
 * group for the topic gets every event, so that a number that was skipped is a gap, and one that is
 * not higher than the last is a duplicate. A connection that has only group subscriptions gets a
 * part of the events: there are no gaps, and only what is known to have been seen is a duplicate.
 *
 * <p>Confined to the {@link Dispatcher}'s lock, except for what is handled, which any thread may
 * tell.
 */
final class ProducerState {
  final TopicHandlers topic;
  final long producer;
  // Set when it is used, taken away when the tracker looks for what to forget.
  boolean touched;

  // Set when something is handled that is not acknowledged yet.
  final AtomicBoolean dirty = new AtomicBoolean();
  private final AtomicLong handled = new AtomicLong();

  // 0 until the first event of a subscription without a group.
  private long last;
  private final RangeList told = new RangeList();
  private final RangeList seen = new RangeList();

  ProducerState(TopicHandlers topic, long producer) {
    this.topic = topic;
    this.producer = producer;
  }

  /**
   * Judges events that were received.
   *
   * @param count how many, at least 1
   * @param gaps hears what is missing before them
   */
  int received(long first, int count, boolean complete, RangeList.Sink gaps) {
    long end = first + count - 1;
    if (!complete || last == 0) {
      int duplicates = (int) Math.min(seen.firstMissing(first) - first, count);
      seen.add(first, end);
      last = complete ? end : 0;
      return duplicates;
    }
    if (end <= last) {
      return count;
    }
    if (first > last + 1) {
      long from = last + 1;
      told.missing(from, first - 1, gaps);
      told.add(from, first - 1);
    }
    int duplicates = (int) Math.max(0, last - first + 1);
    last = end;
    if (!seen.isEmpty()) {
      seen.clear();
    }
    return duplicates;
  }

  /**
   * Takes note of what the bus says is missing.
   *
   * @param gaps hears the part of it that was not told before
   */
  void gap(long from, long to, RangeList.Sink gaps) {
    told.missing(from, to, gaps);
    told.add(from, to);
  }

  /** Returns the first sequence from here on that was neither received nor passed over. */
  long firstUnseen(long from) {
    return Math.max(from, last + 1);
  }

  /** The connection does not get every event any more: what comes next is a new start. */
  void forgetBaseline() {
    last = 0;
    seen.clear();
    told.clear();
  }

  /**
   * Any thread: everything up to here is handled.
   *
   * @return true if this is news since the last acknowledgement, and nobody has said so yet
   */
  boolean handled(long sequence) {
    handled.accumulateAndGet(sequence, Math::max);
    return !dirty.get() && dirty.compareAndSet(false, true);
  }

  /** Takes what to acknowledge. */
  long takeHandled() {
    dirty.set(false);
    return handled.get();
  }
}
