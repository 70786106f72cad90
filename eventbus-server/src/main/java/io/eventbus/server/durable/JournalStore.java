package io.eventbus.server.durable;

import io.eventbus.journal.Journals;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Journals of a bus, which are opened before it serves and closed after that. */
public interface JournalStore extends AutoCloseable {
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
   * @return whether it may serve; otherwise it has to wait on
   * @throws IOException if the bus must not serve, with the reason
   */
  default boolean awaitReady(Duration limit) throws IOException {
    return true;
  }

  /** Returns a stage that completes with a reason when the bus must not serve any more. */
  default CompletionStage<String> refused() {
    return new CompletableFuture<>();
  }

  @Override
  void close();
}
