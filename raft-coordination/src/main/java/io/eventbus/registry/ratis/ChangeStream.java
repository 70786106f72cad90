package io.eventbus.registry.ratis;

import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.listeners.Listeners;
import io.eventbus.registry.state.StateDiff;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Stream of changes to listeners, on the thread "registry".
 *
 * <p>Ratis never waits for a listener. Changes are gathered meanwhile; when there are too many they
 * are dropped, and listeners get the difference between two snapshots.
 */
final class ChangeStream {
  private static final int MAX_GATHERED = 10_000;

  // Commands come faster than listeners need to hear of them, and to be woken costs as much as to
  // apply one: changes within this time are reported together.
  private static final long MIN_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Listeners listeners;
  private final Thread thread;
  private List<RegistryChange> gathered = new ArrayList<>();
  private boolean tooMany;
  private boolean woken;
  private boolean resting;
  private boolean closed;
  private @Nullable RegistrySnapshot newest;

  ChangeStream(int maxListeners, String bus) {
    this.listeners = new Listeners(maxListeners);
    this.thread = new Thread(this::run, "registry-" + bus);
    thread.setDaemon(true);
  }

  void start(RegistrySnapshot first) {
    offer(first, List.of());
    thread.start();
  }

  ListenerRegistration add(RegistryListener listener) {
    ListenerRegistration registration = listeners.add(listener);
    lock.lock();
    try {
      woken = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
    return registration;
  }

  void offer(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    lock.lock();
    try {
      newest = snapshot;
      if (!tooMany && gathered.size() + changes.size() <= MAX_GATHERED) {
        gathered.addAll(changes);
      } else {
        tooMany = true;
        gathered = new ArrayList<>();
      }
      if (!resting) {
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  boolean isOwnThread() {
    return Thread.currentThread() == thread;
  }

  long failures() {
    return listeners.failures();
  }

  private void run() {
    RegistrySnapshot reported = null;
    while (true) {
      RegistrySnapshot next;
      List<RegistryChange> changes;
      boolean diff;
      lock.lock();
      try {
        while (newest == reported && !woken && !closed) {
          changed.awaitUninterruptibly();
        }
        if (newest == reported && closed) {
          return;
        }
        next = newest;
        changes = gathered;
        diff = tooMany;
        gathered = new ArrayList<>();
        tooMany = false;
        woken = false;
      } finally {
        lock.unlock();
      }
      if (next == null) {
        continue;
      }
      if (reported != null && next != reported) {
        listeners.tell(next, diff ? StateDiff.between(reported, next) : changes);
      }
      reported = next;
      listeners.greet(next);
      rest();
    }
  }

  private void rest() {
    lock.lock();
    try {
      resting = true;
      long left = MIN_INTERVAL_NANOS;
      while (left > 0 && !woken && !closed) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      resting = false;
      lock.unlock();
    }
  }
}
