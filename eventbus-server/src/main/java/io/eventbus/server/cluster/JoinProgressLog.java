package io.eventbus.server.cluster;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log of what the bus waits for, less and less often, on a thread of its own until it is closed.
 */
final class JoinProgressLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JoinProgressLog.class);
  private static final long MAX_SECONDS = 60;

  private final Supplier<String> situation;
  private final CountDownLatch closed = new CountDownLatch(1);

  JoinProgressLog(Supplier<String> situation) {
    this.situation = situation;
  }

  /** Describes what a bus waits for that the registry does not know yet. */
  static String describe(boolean started, boolean led, String known) {
    if (started) {
      return "this bus waits for the registry to know it; " + known;
    }
    return led ? "this bus waits until it is a member and up to date; " + known : known;
  }

  void start() {
    Thread thread = new Thread(this::run, "cluster-waiting");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      for (long pause = 5; ; pause = Math.min(2 * pause, MAX_SECONDS)) {
        if (closed.getCount() > 0) {
          LOG.info("Not yet in the cluster: {}", situation.get());
        }
        if (closed.await(pause, TimeUnit.SECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
