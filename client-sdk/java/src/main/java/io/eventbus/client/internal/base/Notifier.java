package io.eventbus.client.internal.base;

import io.eventbus.client.ConnectionListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caller of the application's listener and stages, off the I/O threads. Any thread may use it, also
 * after the end of the client.
 *
 * <p>Stages that fail do not wait behind those that succeed: a deadline has to end a wait even if
 * the application blocks the thread that completes the others.
 */
public final class Notifier {
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

  public Notifier(ConnectionListener listener, Executor executor) {
    this.listener = listener;
    this.listenerCalls = new SerialExecutor(executor, MAX_WAITING_CALLS);
    this.successes = new Completions(executor);
    this.failures = new Completions(executor);
  }

  public void tell(Consumer<ConnectionListener> call) {
    if (!listenerCalls.offer(() -> call.accept(listener))) {
      droppedCalls.increment();
      long dropped = droppedCalls.sum();
      if (Long.bitCount(dropped) == 1) {
        LOG.warn("the connection listener is too slow: {} calls dropped so far", dropped);
      }
    }
  }

  /** Completes a stage with success. */
  public void complete(Runnable completion) {
    successes.addOne(completion);
  }

  /** Completes stages with success, one after the other. */
  public void completeAll(Completions.Stages stages) {
    successes.add(stages);
  }

  /** Completes a stage with a failure. */
  public void fail(Runnable completion) {
    failures.addOne(completion);
  }

  /** Completes stages with a failure, one after the other. */
  public void failAll(Completions.Stages stages) {
    failures.add(stages);
  }

  /**
   * Ensures that stages make progress, whatever the application does: to be called at intervals, by
   * the conductor.
   *
   * @param maxLooks number of intervals in which the executor has to run something
   */
  public void look(int maxLooks) {
    successes.look(maxLooks);
    failures.look(1);
  }

  /** Ends the calls of {@link #look} with the client. */
  public void end() {
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
}
