package io.eventbus.client.internal;

import io.eventbus.client.ConnectionListener;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls the application back, off the I/O threads: the listener, and the stages. */
final class Notifier {
  private static final Logger LOG = LoggerFactory.getLogger(Notifier.class);
  private static final int MOST_WAITING_CALLS = 10_000;

  private final ConnectionListener listener;
  private final SerialExecutor listenerCalls;
  private final SerialExecutor completions;
  private final LongAdder droppedCalls = new LongAdder();

  Notifier(ConnectionListener listener, Executor executor) {
    this.listener = listener;
    this.listenerCalls = new SerialExecutor(executor, MOST_WAITING_CALLS);
    this.completions = new SerialExecutor(executor, Integer.MAX_VALUE);
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

  /**
   * Completes stages. What waits is bounded by the outbound buffer, where each stage is counted.
   */
  void complete(Runnable completion) {
    completions.execute(completion);
  }

  void confirm(List<PublishFrame> frames, long producer) {
    if (!frames.isEmpty()) {
      completions.execute(() -> frames.forEach(frame -> frame.confirm(producer)));
    }
  }
}
