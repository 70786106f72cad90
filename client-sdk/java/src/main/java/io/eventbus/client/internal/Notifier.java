package io.eventbus.client.internal;

import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caller of the application's listener and stages, off the I/O threads. Any thread may use it, also
 * after the end of the client.
 *
 * <p>Stages that fail do not wait behind those that succeed: a deadline has to end a wait even if
 * the application blocks the thread that completes the others.
 */
final class Notifier {
  private static final Logger LOG = LoggerFactory.getLogger(Notifier.class);
  private static final int MAX_WAITING_CALLS = 10_000;

  /**
   * Delay of the last look: after the end of a client nothing else checks whether stages make
   * progress.
   */
  private static final long LAST_LOOK_MILLIS = 100;

  private static final int MAX_LAST_LOOKS = 600;

  private final ConnectionListener listener;
  private final SerialExecutor listenerCalls;
  private final Completions successes;
  private final Completions failures;
  private final LongAdder droppedCalls = new LongAdder();

  Notifier(ConnectionListener listener, Executor executor) {
    this.listener = listener;
    this.listenerCalls = new SerialExecutor(executor, MAX_WAITING_CALLS);
    this.successes = new Completions(executor);
    this.failures = new Completions(executor);
  }

  void tell(Consumer<ConnectionListener> call) {
    if (!listenerCalls.offer(() -> call.accept(listener))) {
      droppedCalls.increment();
      long dropped = droppedCalls.sum();
      if (Long.bitCount(dropped) == 1) {
        LOG.warn("the connection listener is too slow: {} calls dropped so far", dropped);
      }
    }
  }

  /** Completes a stage with success. */
  void complete(Runnable completion) {
    successes.addOne(completion);
  }

  /** Completes the stages of frames that the bus has confirmed. */
  void confirm(List<PublishFrame> frames, long producer) {
    if (!frames.isEmpty()) {
      successes.add(new OfFrames(frames, producer, null));
    }
  }

  /** Completes a stage with a failure. */
  void fail(Runnable completion) {
    failures.addOne(completion);
  }

  /** Fails the stages of frames. */
  void fail(List<PublishFrame> frames, EventBusException failure) {
    if (!frames.isEmpty()) {
      failures.add(new OfFrames(frames, 0, failure));
    }
  }

  /**
   * Ensures that stages make progress, whatever the application does: to be called at intervals, by
   * the conductor.
   *
   * @param maxLooks number of intervals in which the executor has to run something
   */
  void look(int maxLooks) {
    successes.look(maxLooks);
    failures.look(1);
  }

  /** Ends the calls of {@link #look} with the client. */
  void end() {
    lookLast(MAX_LAST_LOOKS);
  }

  private void lookLast(int looks) {
    if (successes.isIdle() && failures.isIdle()) {
      return;
    }
    if (looks == 0) {
      LOG.warn("what depends on stages blocks: some of a closed client are not completed");
      return;
    }
    // A timer of the JDK's: the conductor may end with the client.
    CompletableFuture.delayedExecutor(LAST_LOOK_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
        .execute(
            () -> {
              // Not on the executor, which may run tasks in this thread, which all timers share.
              successes.look(0);
              failures.look(0);
              lookLast(looks - 1);
            });
  }

  /** Stages of frames, in their order. */
  private static final class OfFrames implements Completions.Stages {
    private final List<PublishFrame> frames;
    private final long producer;
    private final @Nullable EventBusException failure;
    private int frame;
    private int waiter;

    OfFrames(List<PublishFrame> frames, long producer, @Nullable EventBusException failure) {
      this.frames = frames;
      this.producer = producer;
      this.failure = failure;
    }

    @Override
    public boolean completeNext() {
      PublishFrame of;
      PublishFrame.Waiter next;
      synchronized (this) {
        while (frame < frames.size() && waiter == frames.get(frame).waiters.size()) {
          frame++;
          waiter = 0;
        }
        if (frame == frames.size()) {
          return false;
        }
        of = frames.get(frame);
        next = of.waiters.get(waiter++);
      }
      if (failure == null) {
        of.confirm(next, producer);
      } else {
        next.stage().completeExceptionally(failure);
      }
      return true;
    }
  }
}
