package io.eventbus.journal.ratis;

import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Callers that wait for an answer, each for the same time at most. Answers come about in the order
 * of the questions, so that a queue is enough. Any thread.
 */
final class AnswerDeadlines {
  private final Duration timeout;
  private final LongSupplier nanoTime;
  private final ConcurrentLinkedQueue<Answer> open = new ConcurrentLinkedQueue<>();
  private final ReentrantLock removing = new ReentrantLock();
  private volatile @Nullable JournalsUnavailableException ended;

  AnswerDeadlines(Duration timeout, LongSupplier nanoTime) {
    this.timeout = timeout;
    this.nanoTime = nanoTime;
  }

  /** Answer that is given once. */
  final class Answer {
    private final BiConsumer<@Nullable RecordResult, @Nullable Throwable> caller;
    private final long begun;
    private final AtomicBoolean done = new AtomicBoolean();

    private Answer(BiConsumer<@Nullable RecordResult, @Nullable Throwable> caller, long begun) {
      this.caller = caller;
      this.begun = begun;
    }

    /** Answers, unless that was done before. */
    void complete(@Nullable RecordResult result, @Nullable Throwable error) {
      if (done.compareAndSet(false, true)) {
        caller.accept(result, error);
      }
      removeDone();
    }
  }

  /** Begins to wait for an answer, which is a result or an error. */
  Answer begin(BiConsumer<@Nullable RecordResult, @Nullable Throwable> caller) {
    Answer answer = new Answer(caller, nanoTime.getAsLong());
    open.add(answer);
    JournalsUnavailableException cause = ended;
    if (cause != null) {
      answer.complete(null, cause);
    }
    return answer;
  }

  private void removeDone() {
    // Nobody waits: what is left is removed with the next answer, or by the next sweep.
    if (!removing.tryLock()) {
      return;
    }
    try {
      for (Answer first = open.peek(); first != null && first.done.get(); first = open.peek()) {
        open.poll();
      }
    } finally {
      removing.unlock();
    }
  }

  /** Ends calls that have waited too long: their outcome is not known. */
  void sweep() {
    removeDone();
    long now = nanoTime.getAsLong();
    for (Answer answer : open) {
      if (now - answer.begun < timeout.toNanos()) {
        return;
      }
      answer.complete(
          null,
          new JournalsUnavailableException(
              "journal: no answer within "
                  + timeout
                  + " (expected: a faster disk, and a majority of the replicas)"));
    }
  }

  /** Tells everybody, from now on, that there will be no answer. */
  void close(JournalsUnavailableException cause) {
    ended = cause;
    open.forEach(answer -> answer.complete(null, cause));
  }

  int open() {
    return open.size();
  }
}
