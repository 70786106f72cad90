package io.eventbus.raft.repair;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class AbortedReconfigurationTest {
  private final List<CompletableFuture<Void>> stepDowns = new ArrayList<>();
  private boolean strangers;
  private final AbortedReconfiguration change =
      new AbortedReconfiguration(
          new AbortedReconfiguration.Group() {
            @Override
            public boolean servesStrangers() {
              return strangers;
            }

            @Override
            public CompletableFuture<Void> stepDown(long timeoutMillis) {
              CompletableFuture<Void> stepDown = new CompletableFuture<>();
              stepDowns.add(stepDown);
              return stepDown;
            }
          });

  @Test
  void aStrangerThatIsSeenOnceIsIgnored() {
    strangers = true;
    assertThat(change.endsLeadership()).isFalse();
    strangers = false;
    assertThat(change.endsLeadership()).isFalse();
    strangers = true;
    assertThat(change.endsLeadership()).isFalse();
    change.reset();
    assertThat(change.endsLeadership()).isFalse();
    assertThat(stepDowns).isEmpty();
  }

  @Test
  void aStrangerThatStaysEndsTheLeadershipAndAFailureIsTriedAgain() {
    strangers = true;
    assertThat(change.endsLeadership()).isFalse();
    assertThat(change.endsLeadership()).isTrue();
    assertThat(change.endsLeadership()).isTrue();
    assertThat(stepDowns).hasSize(1);
    stepDowns.get(0).completeExceptionally(new IllegalStateException("no other voter"));
    assertThat(change.endsLeadership()).isFalse();
    assertThat(change.endsLeadership()).isTrue();
    assertThat(stepDowns).hasSize(2);
  }
}
