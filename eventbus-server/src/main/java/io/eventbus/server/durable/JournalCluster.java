package io.eventbus.server.durable;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Buses that keep the same journals. Any thread may call any method; nothing waits. Stages fail
 * with {@link JournalRefusedException} or {@link io.eventbus.journal.JournalsUnavailableException}.
 */
public interface JournalCluster {
  /** A bus that keeps its journals alone. */
  JournalCluster ALONE =
      new JournalCluster() {
        @Override
        public CompletionStage<Void> prepare(boolean creates) {
          return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<Void> whenKnown() {
          return CompletableFuture.completedFuture(null);
        }

        @Override
        public List<ShardView> shards() {
          return List.of();
        }
      };

  /**
   * Completes when journals can be changed, and this bus knows all that there are.
   *
   * @param creates whether a journal is to be created: there may be no place for any yet
   */
  CompletionStage<Void> prepare(boolean creates);

  /** Completes when all buses that are up go by the journals that this bus knows now. */
  CompletionStage<Void> whenKnown();

  /** Returns the groups of replicas as this bus knows them. */
  List<ShardView> shards();
}
