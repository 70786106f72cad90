package io.eventbus.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class AppliedIndexTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final AppliedIndex applied = new AppliedIndex();

  @Test
  void doesNotWaitForAReachedIndex() {
    applied.reached(5);
    assertThat(applied.await(5, LONG)).isCompleted();
    assertThat(applied.waiting()).isZero();
  }

  @Test
  void completesWaitersAtTheirIndex() {
    CompletableFuture<Void> four = applied.await(4, LONG);
    CompletableFuture<Void> five = applied.await(5, LONG);
    applied.reached(4);
    assertThat(four).isCompleted();
    assertThat(five).isNotDone();
    assertThat(applied.waiting()).isEqualTo(1);
  }

  @Test
  void forgetsWaitersAfterTheTimeout() {
    CompletableFuture<Void> other = applied.await(5, LONG);
    CompletableFuture<Void> hasty = applied.await(5, Duration.ofMillis(1));
    assertThatThrownBy(hasty::get).hasCauseInstanceOf(TimeoutException.class);
    assertThat(applied.waiting()).isEqualTo(1);
    applied.reached(5);
    assertThat(other).isCompleted();
  }
}
