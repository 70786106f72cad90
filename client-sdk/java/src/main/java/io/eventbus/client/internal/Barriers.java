package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurationText;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The questions "has all that I published arrived?" that the bus has not answered. They are asked
 * again on every new connection, and after a pause where the bus could not answer in time, until
 * who asked waits no longer. Any thread may use it.
 */
final class Barriers {
  /** When to ask again what the bus could not answer. */
  static final Duration PAUSE = Duration.ofMillis(100);

  private final Outbox outbox;
  private final Notifier notifier;
  private final Scheduler conductor;
  private final Map<Long, Pending> pending = new LinkedHashMap<>();
  private long nextId = 1;
  private @Nullable EventBusException closed;

  private @Nullable Question question;

  /** What hears of one answer: on the connection's thread, must not block. */
  interface Asker {
    void answered();

    void refused(EventBusException failure);
  }

  private record Question(Batch barrier, Asker asker) {}

  private static final class Pending {
    final CompletableFuture<Void> stage = new CompletableFuture<>();
    final Duration patience;
    final long deadlineNanos;
    boolean pauses;
    // As it was asked last.
    Batch barrier;

    Pending(Batch barrier, Duration patience, long nowNanos) {
      this.barrier = barrier;
      this.patience = patience;
      this.deadlineNanos = nowNanos + Nanos.of(patience);
    }
  }

  Barriers(Outbox outbox, Notifier notifier, Scheduler conductor) {
    this.outbox = outbox;
    this.notifier = notifier;
    this.conductor = conductor;
  }

  /** Asks. */
  synchronized CompletableFuture<Void> ask(Duration patience, long nowNanos) {
    EventBusException end = closed;
    if (end != null) {
      return CompletableFuture.failedFuture(end);
    }
    long id = nextId++;
    Pending asked = new Pending(barrier(id), patience, nowNanos);
    pending.put(id, asked);
    outbox.addBarrier(asked.barrier);
    return asked.stage;
  }

  private static Batch barrier(long id) {
    return Batch.ofBarrier(ControlFrames.encode(TypeCode.BARRIER, new Barrier(id)), id);
  }

  private void again(long id, Pending asked) {
    asked.pauses = false;
    asked.barrier = barrier(id);
    outbox.addBarrier(asked.barrier);
  }

  /** A connection is ready; what is to be sent again is queued already. */
  synchronized void connected() {
    pending.forEach(this::again);
  }

  /** Asks once for the connection that is there, in place of who asked so before. */
  synchronized Batch askOnce(Asker asker) {
    Question asked = new Question(barrier(nextId++), asker);
    question = asked;
    return asked.barrier;
  }

  /** Whoever has asked so is not interested any more. */
  synchronized void forget() {
    question = null;
  }

  private synchronized @Nullable Question takeQuestion(long id) {
    Question asked = question;
    if (asked == null || asked.barrier.barrier != id) {
      return null;
    }
    question = null;
    return asked;
  }

  void echoed(long id) {
    Question asked = takeQuestion(id);
    if (asked != null) {
      outbox.answered(asked.barrier);
      asked.asker.answered();
    } else {
      complete(id);
    }
  }

  private synchronized void complete(long id) {
    Pending answered = pending.remove(id);
    if (answered != null) {
      outbox.answered(answered.barrier);
      notifier.complete(() -> answered.stage.complete(null));
    }
  }

  boolean refused(long id, EventBusException failure) {
    Question asked = takeQuestion(id);
    if (asked != null) {
      asked.asker.refused(failure);
      return true;
    }
    return failure.retryable() ? repeat(id) : fail(id, failure);
  }

  private synchronized boolean repeat(long id) {
    Pending asked = pending.get(id);
    if (asked == null) {
      // Whoever asked waits no longer: nothing that anybody could do.
      return id > 0 && id < nextId;
    }
    if (!asked.pauses) {
      asked.pauses = true;
      conductor.schedule(() -> askAgain(id), PAUSE.toNanos());
    }
    return true;
  }

  private synchronized void askAgain(long id) {
    Pending asked = pending.get(id);
    if (asked != null && asked.pauses) {
      again(id, asked);
    }
  }

  private synchronized boolean fail(long id, EventBusException failure) {
    Pending answered = pending.remove(id);
    if (answered != null) {
      notifier.fail(() -> answered.stage.completeExceptionally(failure));
    }
    return answered != null;
  }

  /** Gives up those that have waited long enough. */
  synchronized void expire(long nowNanos) {
    Map<Long, Pending> late = new LinkedHashMap<>(pending);
    late.values().removeIf(asked -> nowNanos - asked.deadlineNanos < 0);
    late.forEach(
        (id, asked) ->
            fail(
                id,
                new EventBusException.TimedOut(
                    "the bus did not answer a flush within " + DurationText.of(asked.patience))));
  }

  synchronized void close(EventBusException failure) {
    closed = failure;
    new ArrayList<>(pending.keySet()).forEach(id -> fail(id, failure));
  }
}
