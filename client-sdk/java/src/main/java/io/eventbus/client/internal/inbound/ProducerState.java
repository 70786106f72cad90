package io.eventbus.client.internal.inbound;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * State of the events of one producer and topic: which were received, which were reported missing,
 * which were handled.
 *
 * <p>Received events are judged in one of two ways. A connection that has a subscription without a
 * group for the topic gets every event, so that a number that was skipped is a gap, and one that is
 * not higher than the last is a duplicate. A connection that has only group subscriptions gets a
 * part of the events: there are no gaps, and only a number that is known to have been seen is a
 * duplicate.
 *
 * <p>Confined to the {@link Dispatcher}'s lock, except for what is handled, which any thread may
 * tell.
 */
final class ProducerState {
  final TopicHandlers topic;
  final long producer;
  // Set on use, cleared when the tracker looks for what to forget.
  boolean touched;

  // Set when something is handled that is not acknowledged yet.
  final AtomicBoolean dirty = new AtomicBoolean();
  private final AtomicLong handled = new AtomicLong();

  // 0 until the first event of a subscription without a group.
  private long last;
  private final RangeList reported = new RangeList();
  private final RangeList seen = new RangeList();

  ProducerState(TopicHandlers topic, long producer) {
    this.topic = topic;
    this.producer = producer;
  }

  /**
   * Judges received events; returns how many at the start are duplicates.
   *
   * @param count at least 1
   * @param gaps receives what is missing before them
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
      reported.missing(from, first - 1, gaps);
      reported.add(from, first - 1);
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
   * @param gaps receives the part of it that was not reported before
   */
  void gap(long from, long to, RangeList.Sink gaps) {
    reported.missing(from, to, gaps);
    reported.add(from, to);
  }

  /** Returns the first sequence from here on that was neither received nor passed over. */
  long firstUnseen(long from) {
    return Math.max(from, last + 1);
  }

  /**
   * Restarts the judgement with the next event, because the connection does not get every event any
   * more.
   */
  void forgetBaseline() {
    last = 0;
    seen.clear();
    reported.clear();
  }

  /**
   * Records that everything up to here is handled. Any thread. Returns true if this is news since
   * the last acknowledgement that nobody has reported yet.
   */
  boolean handled(long sequence) {
    handled.accumulateAndGet(sequence, Math::max);
    return !dirty.get() && dirty.compareAndSet(false, true);
  }

  /** Returns the sequence to acknowledge, once. */
  long takeHandled() {
    dirty.set(false);
    return handled.get();
  }
}
