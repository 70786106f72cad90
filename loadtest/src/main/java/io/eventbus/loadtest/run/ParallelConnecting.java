package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
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
   * @param count how many
   * @param connect makes the one of a number; called by several threads
   * @param <T> what stands for a client
   * @return the clients by number
   * @throws DriverException the first failure
   * @throws InterruptedException if the thread is interrupted
   */
  public static <T> List<T> all(int count, IntFunction<T> connect) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(AT_A_TIME, count));
    try {
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int number = i;
        futures.add(threads.submit(() -> connect.apply(number)));
      }
      threads.shutdown();
      if (!threads.awaitTermination(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        long done = futures.stream().filter(Future::isDone).count();
        throw new DriverException(
            done + " of " + count + " clients connected within " + DEADLINE.toSeconds() + " s");
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
    } catch (CancellationException e) {
      throw new DriverException("a client was not connected", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
