package io.eventbus.client.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The part of the {@link Outbox} that settles what was sent: by the bus's confirmations and
 * refusals, and by time. Any thread may use it; it takes the outbox's lock.
 */
final class Confirmations {
  private final Lock lock;
  private final PublishedTopics topics;
  private final Budget budget;
  private final SendQueue departures;
  private final Unconfirmed unconfirmed;

  Confirmations(
      Lock lock,
      PublishedTopics topics,
      Budget budget,
      SendQueue departures,
      Unconfirmed unconfirmed) {
    this.lock = lock;
    this.topics = topics;
    this.budget = budget;
    this.departures = departures;
    this.unconfirmed = unconfirmed;
  }

  /**
   * Takes out the frames that a confirmation settles.
   *
   * @param lastSequence of the confirmed frame; it settles all before it in the topic too
   * @param into gets them, in order
   */
  void confirmed(String topicName, long lastSequence, List<PublishFrame> into) {
    TopicState topic = topics.known(topicName);
    if (topic == null) {
      return;
    }
    lock.lock();
    try {
      budget.release(unconfirmed.confirmed(topic, lastSequence, into));
    } finally {
      lock.unlock();
    }
  }

  /** Takes out a frame that the bus has refused; null when nobody waited for it. */
  @Nullable PublishFrame refused(String topicName, long firstSequence) {
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
   * Takes out what has waited for too long and was never sent. What was not sent yet and stays gets
   * its numbers, so that none is missing.
   *
   * @param bornBefore nanoseconds of the {@link MicroClock}
   */
  List<PublishFrame> withdrawn(long bornBefore) {
    lock.lock();
    try {
      // The batch that is being filled waits as well, and is as old as its first event.
      departures.seal();
      if (!departures.hasUnsentBornBefore(bornBefore)) {
        return List.of();
      }
      BatchSplitter recut =
          BatchSplitter.withdrawing(departures.batchBytes(), bornBefore, topics::get);
      departures.waiting().forEach(recut::add);
      BatchSplitter.Result result = recut.result();
      departures.replaceWaiting(result.batches());
      budget.release(result.freed());
      return result.refused();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes out what was sent and has waited for too long.
   *
   * @param bornBefore nanoseconds of the {@link MicroClock}
   */
  List<PublishFrame> expired(long bornBefore) {
    List<PublishFrame> late = new ArrayList<>();
    lock.lock();
    try {
      budget.release(unconfirmed.expired(bornBefore, late));
      // An event that may have been delivered stays: it is sent again under its numbers.
      departures.waiting().forEach(batch -> takeLate(batch, bornBefore, late));
      Batch leaving = departures.inFlight();
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
