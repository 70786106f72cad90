package io.eventbus.server.durable;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

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

        @Override
        public CompletionStage<Void> moveVote(String bus, boolean leaves) {
          return alone();
        }

        @Override
        public CompletionStage<Void> removeReplica(String bus) {
          return alone();
        }

        private CompletionStage<Void> alone() {
          return CompletableFuture.failedFuture(
              new JournalRefusedException("this bus is in no cluster", false));
        }

        @Override
        public @Nullable String warning(String bus) {
          return null;
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

  /**
   * Moves the vote of a bus on the journals to another one.
   *
   * @param leaves whether the bus is to leave for good: then it is refused where too few replicas
   *     would be left that have caught up
   */
  CompletionStage<Void> moveVote(String bus, boolean leaves);

  /** Takes the replica of a bus away, its vote first. The bus must not be UP. */
  CompletionStage<Void> removeReplica(String bus);

  /** Returns what is lost if a bus stops now, for people; null for nothing. */
  @Nullable String warning(String bus);
}
