package io.eventbus.server.balance;

import io.eventbus.link.LinkNode;
import java.util.SplittableRandom;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Environment of balancing, which a simulation can replace.
 *
 * @param calls calls to the peers; null for a bus that serves alone
 * @param executor runs one task at a time, and drops tasks after its end
 * @param nanoTime as {@link System#nanoTime}; any thread
 */
record BalancerEnvironment(
    @Nullable PeerQueries calls,
    ScheduledExecutorService executor,
    LongSupplier nanoTime,
    RandomGenerator random) {

  static BalancerEnvironment real(@Nullable LinkNode links) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "eventbus-balance");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    executor.setRemoveOnCancelPolicy(true);
    return new BalancerEnvironment(
        PeerQueries.of(links), executor, System::nanoTime, new SplittableRandom());
  }
}
