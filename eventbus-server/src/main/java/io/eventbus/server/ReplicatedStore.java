package io.eventbus.server;

import io.eventbus.journal.Journals;
import io.eventbus.server.cluster.Membership;
import io.eventbus.server.durable.JournalCluster;
import io.eventbus.server.replica.ReplicaPlace;
import io.eventbus.server.replica.ReplicaStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Journals of a bus in a cluster. */
final class ReplicatedStore implements JournalStore {
  private final ReplicaStore store;

  private ReplicatedStore(ReplicaStore store) {
    this.store = store;
  }

  /**
   * Opens the data directory of a bus.
   *
   * @throws IOException if it cannot be used; names problem, place and expectation
   */
  static ReplicatedStore open(Path directory, Membership membership) throws IOException {
    return new ReplicatedStore(
        ReplicaStore.open(
            directory,
            new ReplicaPlace(
                membership.busName(),
                membership.registry(),
                () -> membership.standing().clusterId(),
                membership.links().orElseThrow())));
  }

  @Override
  public Journals journals() {
    return store.journals();
  }

  @Override
  public JournalCluster cluster() {
    return store;
  }

  @Override
  public int generation() {
    return store.generation();
  }

  @Override
  public boolean isOpen() {
    return store.hasReplica();
  }

  @Override
  public void awaitReady(Duration limit) throws IOException {
    store.awaitReady(limit);
  }

  @Override
  public CompletionStage<String> refused() {
    return store.refused();
  }

  @Override
  public void close() {
    store.close();
  }
}
