package io.eventbus.server.admin;

import io.eventbus.server.admission.AuthenticationFailures;
import io.eventbus.server.log.RateLimitedLog;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Answers to callers that have lately shown wrong credentials: a second late each, without a thread
 * that waits. Any thread.
 */
final class LateAnswers implements AutoCloseable {
  /** What an address may have waiting; while it has so many, nothing that it shows is looked at. */
  static final int MOST_OF_ADDRESS = 8;

  /** The same of all addresses together. */
  static final int MOST = 64;

  private static final long DELAY_MILLIS = 1_000;

  private final AuthenticationFailures failures;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<InetAddress, Integer> waiting = new HashMap<>();
  private int total;

  LateAnswers() {
    this(
        new AuthenticationFailures(
            new RateLimitedLog(LoggerFactory.getLogger("eventbus.audit")), System::nanoTime),
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "eventbus-admin-late");
              thread.setDaemon(true);
              return thread;
            }));
  }

  LateAnswers(AuthenticationFailures failures, ScheduledThreadPoolExecutor timer) {
    this.failures = failures;
    this.timer = timer;
    timer.setRemoveOnCancelPolicy(true);
  }

  /** Says whether so many answers wait that nothing more is looked at. */
  synchronized boolean isFull(InetAddress address) {
    return total >= MOST || waiting.getOrDefault(address, 0) >= MOST_OF_ADDRESS;
  }

  /**
   * Notes wrong credentials, and answers: now, or late.
   *
   * @param answer called once, by this thread or another; must not block for long
   */
  void answer(InetAddress address, Runnable answer) {
    if (!failures.note(address, "showed wrong credentials at the administration port")) {
      answer.run();
      return;
    }
    take(address);
    try {
      var unused =
          timer.schedule(
              () -> {
                give(address);
                answer.run();
              },
              DELAY_MILLIS,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
      give(address);
      answer.run();
    }
  }

  private synchronized void take(InetAddress address) {
    total++;
    waiting.merge(address, 1, Integer::sum);
  }

  private synchronized void give(InetAddress address) {
    total--;
    waiting.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
