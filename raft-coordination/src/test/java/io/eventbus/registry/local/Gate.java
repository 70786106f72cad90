package io.eventbus.registry.local;

import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Listener that does what listeners must not: it holds the registry's thread until released. */
final class Gate implements RegistryListener {
  private final long fromVersion;
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch open = new CountDownLatch(1);
  private volatile boolean interrupted;

  Gate(long fromVersion) {
    this.fromVersion = fromVersion;
  }

  @Override
  public void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    if (snapshot.version() < fromVersion) {
      return;
    }
    reached.countDown();
    try {
      if (!open.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody opened the gate");
      }
    } catch (InterruptedException e) {
      interrupted = true;
      Thread.currentThread().interrupt();
    }
  }

  void awaitReached() throws InterruptedException {
    if (!reached.await(60, TimeUnit.SECONDS)) {
      throw new AssertionError("the registry's thread did not come to the gate");
    }
  }

  void open() {
    open.countDown();
  }

  boolean wasInterrupted() {
    return interrupted;
  }
}
