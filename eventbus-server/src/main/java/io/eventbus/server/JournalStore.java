package io.eventbus.server;

import io.eventbus.journal.Journals;
import io.eventbus.server.cluster.Membership;
import io.eventbus.server.durable.JournalCluster;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Journals of a bus, which are opened before it serves and closed after that. */
interface JournalStore extends AutoCloseable {
  /** Opener of the journals. */
  interface Opener {
    /**
     * Opens the journals; null for a bus without any.
     *
     * @param membership place of the bus in its registry, which outlives the journals
     * @throws IOException if they cannot be opened; names problem, place and expectation
     */
    @Nullable JournalStore open(Membership membership) throws IOException;
  }

  /** Returns the journals. */
  Journals journals();

  /** Returns the buses that keep the same journals. */
  default JournalCluster cluster() {
    return JournalCluster.ALONE;
  }

  /** Returns the generation of the data directory, from 1. */
  default int generation() {
    return 1;
  }

  /** Returns whether the journals are open; a bus of a cluster may have none yet. */
  default boolean isOpen() {
    return true;
  }

  /**
   * Waits until this bus knows all journals that there are, for that time at most.
   *
   * @throws IOException if the bus must not serve, with the reason
   */
  default void awaitReady(Duration limit) throws IOException {}

  /** Returns a stage that completes with a reason when the bus must not serve any more. */
  default CompletionStage<String> refused() {
    return new CompletableFuture<>();
  }

  @Override
  void close();
}
