package io.eventbus.server.replica;

import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistrySnapshot;
import java.util.function.Consumer;

/**
 * Guard of a bus without a data directory: it must not serve in a cluster with journals, whose
 * topics it would take for ordinary ones.
 */
public final class PlacementGuard {
  /** Reason for people. */
  public static final String REASON =
      "durable.directory: none (expected: a directory, because the cluster has journals, and each of"
          + " its buses a replica of them)";

  private PlacementGuard() {}

  /** Returns whether a cluster has journals. */
  public static boolean hasJournals(RegistrySnapshot registry) {
    return !registry.shards().isEmpty();
  }

  /**
   * Watches a registry.
   *
   * @param refuse told the reason when the cluster has journals; must not block
   */
  public static ListenerRegistration watch(Registry registry, Consumer<String> refuse) {
    return registry.addListener(
        (snapshot, changes) -> {
          if (hasJournals(snapshot)) {
            refuse.accept(REASON);
          }
        });
  }
}
