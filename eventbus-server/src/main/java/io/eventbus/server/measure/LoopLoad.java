package io.eventbus.server.measure;

import io.eventbus.base.Schedules;
import io.eventbus.server.transport.EventLoops;
import io.eventbus.server.view.BusStats;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Load of each event loop: the processor time of its thread, which waits in the system when it has
 * nothing to do. Sampled once a second by a thread of its own, which also checks that the loops
 * answer; read by any thread.
 */
public final class LoopLoad implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LoopLoad.class);
  private static final long PERIOD_SECONDS = 1;

  private static final class Sample {
    final Thread thread;
    long cpuNanos;
    long takenAt = System.nanoTime();
    double share;

    Sample(Thread thread) {
      this.thread = thread;
    }
  }

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final List<Sample> samples = new ArrayList<>();
  private final ScheduledExecutorService sampler =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "eventbus-load");
            thread.setDaemon(true);
            return thread;
          });

  private final Future<?> sampling;

  public LoopLoad(EventLoops loops, LoopWatch watch) {
    for (int i = 0; i < loops.count(); i++) {
      loops.executor(i).execute(() -> add(Thread.currentThread()));
    }
    sampling =
        // With a fixed delay: after a pause of the process there must not be many checks at once.
        sampler.scheduleWithFixedDelay(
            Schedules.guarded(
                LOG,
                "looking at the event loops",
                () -> {
                  watch.check();
                  sample();
                }),
            PERIOD_SECONDS,
            PERIOD_SECONDS,
            TimeUnit.SECONDS);
  }

  private synchronized void add(Thread thread) {
    samples.add(new Sample(thread));
  }

  private synchronized void sample() {
    for (Sample s : samples) {
      long now = System.nanoTime();
      // -1 where the platform does not measure it, or the thread has ended.
      long cpu = Math.max(s.cpuNanos, threads.getThreadCpuTime(s.thread.getId()));
      s.share = Math.min(1, (cpu - s.cpuNanos) / (double) Math.max(1, now - s.takenAt));
      s.cpuNanos = cpu;
      s.takenAt = now;
    }
  }

  public synchronized List<BusStats.Loop> read() {
    return samples.stream()
        .map(s -> new BusStats.Loop(s.thread.getName(), s.cpuNanos / 1e9, s.share))
        .toList();
  }

  @Override
  public void close() {
    sampling.cancel(false);
    sampler.shutdownNow();
  }
}
