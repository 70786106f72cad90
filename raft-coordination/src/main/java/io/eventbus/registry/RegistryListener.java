package io.eventbus.registry;

import java.util.List;

/**
 * Listener for all changes of the registry, in order.
 *
 * <p>Implementers: this runs on the registry's own thread, and every other listener and every
 * command waits for it. It must not block, must not wait for the registry, and must not throw; hand
 * the work over to a thread of your own, and bound its queue.
 */
@FunctionalInterface
public interface RegistryListener {
  /**
   * Takes the next snapshot.
   *
   * <p>The first call after {@link Registry#addListener} brings the snapshot of that moment and no
   * changes; from then on nothing is left out: the list has all changes since the call before. A
   * call may stand for several versions.
   *
   * @param snapshot the registry as it is now
   * @param changes the differences, in order; it may be empty if only leases or the time went on
   */
  void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes);
}
