package io.eventbus.registry.ratis.join;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class JoinAdmissionTest {
  private final CompletableFuture<Long> snapshot = new CompletableFuture<>();
  private final CompletableFuture<Void> applied = new CompletableFuture<>();
  private int entries;

  private CompletableFuture<Void> shortenLog() {
    return JoinAdmission.shortenLog(
        () -> snapshot,
        () -> {
          entries++;
          return applied;
        });
  }

  @Test
  void anEntryFollowsTheSnapshotAndNobodyWaitsForIt() {
    CompletableFuture<Void> done = shortenLog();
    assertThat(entries).isZero();
    assertThat(done).isNotDone();
    snapshot.complete(7L);
    assertThat(entries).isEqualTo(1);
    assertThat(done).isCompleted();
  }

  @Test
  void aBusJoinsAlsoWithoutASnapshot() {
    CompletableFuture<Void> done = shortenLog();
    snapshot.completeExceptionally(new IOException("disk full"));
    assertThat(entries).isEqualTo(1);
    assertThat(done).isCompleted();
  }
}
