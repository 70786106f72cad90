package io.eventbus.registry.listeners;

import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listeners of a registry. Any thread adds and removes them; only the registry's calls them. */
public final class Listeners {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  private final CopyOnWriteArrayList<Slot> slots = new CopyOnWriteArrayList<>();
  private final AtomicLong failures = new AtomicLong();
  private final int max;

  /** Creates an empty list. */
  public Listeners(int max) {
    this.max = max;
  }

  /**
   * Adds a listener; {@link #greet} brings its first snapshot.
   *
   * @throws IllegalStateException if there is the maximum number of listeners
   */
  public synchronized ListenerRegistration add(RegistryListener listener) {
    if (slots.size() >= max) {
      throw new IllegalStateException("listeners: " + slots.size() + " (expected: < " + max + ")");
    }
    Slot slot = new Slot(listener);
    slots.add(slot);
    return () -> {
      slot.ended = true;
      slots.remove(slot);
    };
  }

  /** Gives new listeners their first snapshot. */
  public void greet(RegistrySnapshot snapshot) {
    for (Slot slot : slots) {
      if (!slot.greeted) {
        slot.greeted = true;
        tell(slot, snapshot, new ArrayList<>());
      }
    }
  }

  /**
   * Tells the listeners that were greeted before; the others will find the changes in their first
   * snapshot.
   *
   * @param changes the differences, in order
   */
  public void tell(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    for (Slot slot : slots) {
      if (slot.greeted) {
        tell(slot, snapshot, changes);
      }
    }
  }

  /** Returns how often a listener threw. */
  public long failures() {
    return failures.get();
  }

  // A listener is foreign code: its exceptions must not stop the registry's thread.
  @SuppressWarnings("CatchingUnchecked")
  private void tell(Slot slot, RegistrySnapshot snapshot, List<RegistryChange> changes) {
    if (slot.ended) {
      return;
    }
    try {
      slot.listener.onSnapshot(snapshot, changes);
    } catch (Exception e) {
      failures.incrementAndGet();
      if (!slot.reported) {
        slot.reported = true;
        log.error(
            "Listener {} threw on {}; later errors of it are only counted",
            slot.listener.getClass().getName(),
            snapshot,
            e);
      }
    }
  }

  private static final class Slot {
    final RegistryListener listener;
    volatile boolean ended;

    // The registry's thread only:
    boolean greeted;
    boolean reported;

    Slot(RegistryListener listener) {
      this.listener = listener;
    }
  }
}
