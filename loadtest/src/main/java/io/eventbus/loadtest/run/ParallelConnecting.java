package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** Connects many clients a few at a time: most of a connection's beginning is waiting. */
public final class ParallelConnecting {
  private static final int AT_A_TIME = 16;
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private ParallelConnecting() {}

  /**
   * Makes clients.
   *
   * @throws DriverException the first failure, or that some were not connected in time
   * @throws InterruptedException if the thread is interrupted
   */
  public static <T> List<T> all(int count, IntFunction<T> connect) throws InterruptedException {
    return all(count, connect, DEADLINE);
  }

  static <T> List<T> all(int count, IntFunction<T> connect, Duration deadline)
      throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(AT_A_TIME, count));
    try {
      CompletionService<T> connecting = new ExecutorCompletionService<>(threads);
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int number = i;
        futures.add(connecting.submit(() -> connect.apply(number)));
      }
      long end = System.nanoTime() + deadline.toNanos();
      for (int connected = 0; connected < count; connected++) {
        Future<T> next = connecting.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (next == null) {
          throw new DriverException(
              connected
                  + " of "
                  + count
                  + " clients connected within "
                  + deadline.toMillis()
                  + " ms");
        }
        // Throws at once what went wrong, however many are still waiting.
        next.get();
      }
      List<T> clients = new ArrayList<>(count);
      for (Future<T> future : futures) {
        clients.add(future.get());
      }
      return clients;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof DriverException failure
          ? failure
          : new DriverException("a client failed while connecting", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
