package io.eventbus.client.internal.outbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Nanos;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Scheduler;
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
 * their callers time out. Any thread may use it.
 */
public final class Barriers {
  /** Pause before a question is repeated that the bus could not answer. */
  public static final Duration RETRY_PAUSE = Duration.ofMillis(100);

  private final Outbox outbox;
  private final Notifier notifier;
  private final Scheduler conductor;
  private final Map<Long, Pending> pending = new LinkedHashMap<>();
  private long nextId = 1;
  private @Nullable EventBusException closed;

  private @Nullable Question question;

  /** Callback for one answer; runs on the connection's thread and must not block. */
  public interface Asker {
    void answered();

    void refused(EventBusException failure);
  }

  private record Question(Batch barrier, Asker asker) {}

  private static final class Pending {
    final CompletableFuture<Void> stage = new CompletableFuture<>();
    final Duration timeout;
    final long deadlineNanos;
    boolean pauses;
    // The barrier of the last question.
    Batch barrier;

    Pending(Batch barrier, Duration timeout, long nowNanos) {
      this.barrier = barrier;
      this.timeout = timeout;
      this.deadlineNanos = nowNanos + Nanos.of(timeout);
    }
  }

  public Barriers(Outbox outbox, Notifier notifier, Scheduler conductor) {
    this.outbox = outbox;
    this.notifier = notifier;
    this.conductor = conductor;
  }

  /** Asks whether everything published has arrived. */
  public synchronized CompletableFuture<Void> ask(Duration timeout, long nowNanos) {
    EventBusException end = closed;
    if (end != null) {
      return CompletableFuture.failedFuture(end);
    }
    long id = nextId++;
    Pending asked = new Pending(barrier(id), timeout, nowNanos);
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

  /** Repeats the questions on a new connection; what is to be sent again is queued already. */
  public synchronized void connected() {
    pending.forEach(this::again);
  }

  /** Asks once over the present connection; replaces an earlier question of this kind. */
  public synchronized Batch askOnce(Asker asker) {
    Question asked = new Question(barrier(nextId++), asker);
    question = asked;
    return asked.barrier;
  }

  /** Drops the question of {@link #askOnce}. */
  public synchronized void forget() {
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

  public void echoed(long id) {
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

  public boolean refused(long id, EventBusException failure) {
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
      // The caller has timed out: nothing is left to do.
      return id > 0 && id < nextId;
    }
    if (!asked.pauses) {
      asked.pauses = true;
      conductor.schedule(() -> askAgain(id), RETRY_PAUSE.toNanos());
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

  /** Fails the questions whose timeout is over. */
  public synchronized void expire(long nowNanos) {
    Map<Long, Pending> late = new LinkedHashMap<>(pending);
    late.values().removeIf(asked -> nowNanos - asked.deadlineNanos < 0);
    late.forEach(
        (id, asked) ->
            fail(
                id,
                new EventBusException.TimedOut(
                    "the bus did not answer a flush within " + DurationText.of(asked.timeout))));
  }

  public synchronized void close(EventBusException failure) {
    closed = failure;
    new ArrayList<>(pending.keySet()).forEach(id -> fail(id, failure));
  }
}
