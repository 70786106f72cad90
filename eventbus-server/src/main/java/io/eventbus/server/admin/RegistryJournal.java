package io.eventbus.server.admin;

import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistrySnapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Last changes of the registry, for callers that ask for changes since their last request. It
 * begins with the first request. Safe for use by several threads.
 */
final class RegistryJournal implements AutoCloseable {
  private static final int MAX_KEPT = 1_000;

  /** Change of the registry. */
  record Item(long version, String change) {}

  /**
   * Changes since a version.
   *
   * @param version where to go on
   * @param items the changes, in order
   */
  record Changes(long version, boolean missed, List<Item> items) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Item> kept = new ArrayDeque<>();
  private @Nullable ListenerRegistration registration;

  /** Version before the oldest change that is kept. */
  private long from = -1;

  private long version;

  /** Waits until there is something new, or the time is over. */
  Changes since(Registry registry, long after, long waitNanos) throws InterruptedException {
    begin(registry);
    lock.lockInterruptibly();
    try {
      long left = waitNanos;
      while (left > 0 && after >= from && after <= version && newest() <= after) {
        left = changed.awaitNanos(left);
      }
      List<Item> items = new ArrayList<>();
      boolean missed = after >= 0 && (after < from || after > version);
      for (Item item : kept) {
        if (after >= 0 && !missed && item.version() > after) {
          items.add(item);
        }
      }
      return new Changes(version, missed, List.copyOf(items));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the newest version; renewed leases make versions too, and are no news. */
  private long newest() {
    Item last = kept.peekLast();
    return last == null ? from : last.version();
  }

  private void begin(Registry registry) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (registration == null) {
        registration = registry.addListener(this::changed);
      }
      // The first call, on the registry's thread, brings the snapshot of the moment.
      long left = TimeUnit.SECONDS.toNanos(1);
      while (from < 0 && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private void changed(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    lock.lock();
    try {
      if (from < 0) {
        from = snapshot.version();
      }
      for (RegistryChange change : changes) {
        kept.add(new Item(snapshot.version(), change.describe()));
      }
      while (kept.size() > MAX_KEPT) {
        from = kept.remove().version();
      }
      version = snapshot.version();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (registration != null) {
        registration.close();
        registration = null;
      }
    } finally {
      lock.unlock();
    }
  }
}
