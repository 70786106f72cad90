package io.eventbus.server.admin;

import io.eventbus.server.admission.AuthenticationFailures;
import io.eventbus.server.admission.ClientAddress;
import io.eventbus.server.log.RateLimitedLog;
import io.eventbus.server.security.Origin;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * Callers that show credentials: how many of each address are looked at or wait for an answer.
 * Those that have lately shown wrong ones get it a second late, without a thread that waits. Any
 * thread.
 */
final class LateAnswers implements AutoCloseable {
  /**
   * What an address may have waiting or being looked at, which takes a thread for as long as a
   * password's hash; nothing else that it shows is looked at then.
   */
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

  /**
   * Takes a place for credentials that are to be looked at; {@link #leave} or {@link #answer} gives
   * it back.
   *
   * @return false if so many have one that these are not looked at
   */
  synchronized boolean enter(InetAddress address) {
    if (total >= MOST || waiting.getOrDefault(address, 0) >= MOST_OF_ADDRESS) {
      return false;
    }
    total++;
    waiting.merge(address, 1, Integer::sum);
    return true;
  }

  /** Where a caller is, and whether its answer would be late now. */
  Origin origin(InetAddress address) {
    return new Origin(ClientAddress.of(address), failures.isMany(address));
  }

  /** Gives back the place of credentials that are not wrong. */
  synchronized void leave(InetAddress address) {
    total--;
    waiting.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
  }

  /**
   * Notes that credentials with a place are wrong, and answers: now, or late.
   *
   * @param answer called once, by this thread or another; must not block for long
   */
  void answer(InetAddress address, Runnable answer) {
    if (!failures.note(address, "showed wrong credentials at the administration port")) {
      leave(address);
      answer.run();
      return;
    }
    try {
      var unused =
          timer.schedule(
              () -> {
                leave(address);
                answer.run();
              },
              DELAY_MILLIS,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
      leave(address);
      answer.run();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
