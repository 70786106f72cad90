package io.eventbus.journal.store;

import io.eventbus.journal.rows.StoreFailedException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Thread that brings rows to the disk when the policy says so, beside that which applies, and looks
 * for errors of RocksDB's own threads while no entry is written.
 */
final class Flusher {
  private static final Logger LOG = LoggerFactory.getLogger(Flusher.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ShardStore store;
  private final FlushPolicy policy;
  private final Thread thread;
  private volatile boolean stopped;
  private volatile long flushedBytes;
  private long begun = System.nanoTime();

  Flusher(ShardStore store, FlushPolicy policy, String name) {
    this.store = store;
    this.policy = policy;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Notes how many bytes have been written, and wakes the thread when that is enough. */
  void written(long bytes) {
    if (bytes - flushedBytes >= policy.bytes()) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    try {
      while (!stopped) {
        long left = policy.interval().toNanos() - (System.nanoTime() - begun);
        LockSupport.parkNanos(Math.min(left, CHECK_NANOS));
        if (!stopped) {
          store.watch();
          step(System.nanoTime());
        }
      }
    } catch (StoreFailedException | InterruptedException e) {
      // The store has ended, or is about to.
      LOG.debug("flushes of store {} end", store.directory(), e);
    }
  }

  private void step(long now) throws InterruptedException {
    long bytes = store.stats().bytes();
    boolean due = policy.isDue(bytes - flushedBytes, now - begun);
    if (due && !store.flush(TIMEOUT)) {
      LOG.warn("store {}: rows are not on the disk after {}", store.directory(), TIMEOUT);
    }
    if (due || now - begun >= policy.interval().toNanos()) {
      flushedBytes = bytes;
      begun = now;
    }
  }

  /** Ends the thread; a flush that is under way ends with the store's lease. */
  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }
}
