package io.eventbus.client.internal.outbound;

import io.eventbus.schema.Confirm;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Part of the {@link Outbox} that settles what was sent: by the bus's confirmations and refusals,
 * and by time. Any thread may use it; it locks the outbox.
 */
public final class Confirmations {
  private final Lock lock;
  private final PublishedTopics topics;
  private final Budget budget;
  private final SendQueue queue;
  private final Unconfirmed unconfirmed;

  Confirmations(
      Lock lock, PublishedTopics topics, Budget budget, SendQueue queue, Unconfirmed unconfirmed) {
    this.lock = lock;
    this.topics = topics;
    this.budget = budget;
    this.queue = queue;
    this.unconfirmed = unconfirmed;
  }

  /**
   * Removes the frames that a confirmation settles; returns how many of their events have a stage.
   *
   * @param confirm of a frame; it settles all before it in the topic too
   * @param into receives them, in order
   */
  public long confirmed(Confirm confirm, List<PublishFrame> into) {
    long lastSequence = confirm.getAbout();
    TopicState topic = topics.known(confirm.getTopic());
    if (topic == null) {
      return 0;
    }
    int before = into.size();
    lock.lock();
    try {
      budget.release(unconfirmed.confirmed(topic, lastSequence, into));
    } finally {
      lock.unlock();
    }
    long events = 0;
    for (PublishFrame frame : into.subList(before, into.size())) {
      events += frame.waiters.size();
      if (frame.lastSequence() == lastSequence) {
        frame.receivers = confirm.getReceivers();
        frame.position = confirm.getPosition();
        frame.repeated = confirm.getRepeated();
      }
    }
    return events;
  }

  /** Removes and returns a frame that the bus has refused; null if nobody waited for it. */
  public @Nullable PublishFrame refused(String topicName, long firstSequence) {
    TopicState topic = topics.known(topicName);
    if (topic == null) {
      return null;
    }
    lock.lock();
    try {
      PublishFrame frame = unconfirmed.refused(topic, firstSequence);
      if (frame != null) {
        budget.release(frame.cost);
      }
      return frame;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes frames that have timed out and were never sent. Unsent frames that stay get new
   * numbers, so that none is missing.
   *
   * @param bornBefore nanoseconds of the {@code MicroClock}
   */
  public List<PublishFrame> withdrawn(long bornBefore) {
    lock.lock();
    try {
      // The batch that is being filled waits as well, and is as old as its first event.
      queue.seal();
      if (!queue.hasUnsentBornBefore(bornBefore)) {
        return List.of();
      }
      BatchSplitter recut = BatchSplitter.withdrawing(queue.batchBytes(), bornBefore, topics::get);
      queue.waiting().forEach(recut::add);
      BatchSplitter.Result result = recut.result();
      queue.replaceWaiting(result.batches());
      budget.release(result.freed());
      return result.refused();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes frames that were sent and have timed out.
   *
   * @param bornBefore nanoseconds of the {@code MicroClock}
   */
  public List<PublishFrame> expired(long bornBefore) {
    List<PublishFrame> late = new ArrayList<>();
    lock.lock();
    try {
      budget.release(unconfirmed.expired(bornBefore, late));
      // An event that may have been delivered stays: it is sent again under its numbers.
      queue.waiting().forEach(batch -> takeLate(batch, bornBefore, late));
      Batch leaving = queue.inFlight();
      if (leaving != null) {
        takeLate(leaving, bornBefore, late);
      }
      return late;
    } finally {
      lock.unlock();
    }
  }

  private static void takeLate(Batch batch, long bornBefore, List<PublishFrame> late) {
    for (PublishFrame frame : batch.frames) {
      if (!frame.waiters.isEmpty() && frame.createdNanos - bornBefore <= 0) {
        late.add(frame.withoutFrame());
      }
    }
  }
}
