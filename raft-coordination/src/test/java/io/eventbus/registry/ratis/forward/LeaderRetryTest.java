package io.eventbus.registry.ratis.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.registry.RegistryClosedException;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LeaderRetryTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
  private final Set<LeaderRetry<?>> open = ConcurrentHashMap.newKeySet();

  @AfterEach
  void stop() {
    timers.shutdownNow();
  }

  private CompletableFuture<String> start(CompletableFuture<String> tried) {
    return LeaderRetry.start(left -> tried, timers, LONG, () -> "a test", open);
  }

  @Test
  void failsAndForgetsAttemptsAfterTheEnd() {
    timers.shutdownNow();
    CompletableFuture<String> answer = start(new CompletableFuture<>());
    assertThatThrownBy(answer::get).hasCauseInstanceOf(RegistryClosedException.class);
    assertThat(open).isEmpty();
  }

  @Test
  void aFailureAfterTheEndEnds() {
    CompletableFuture<String> tried = new CompletableFuture<>();
    CompletableFuture<String> answer = start(tried);
    timers.shutdownNow();
    assertThat(answer).isNotDone();
    tried.completeExceptionally(new IOException("no answer"));
    assertThatThrownBy(answer::get).hasCauseInstanceOf(RegistryClosedException.class);
    assertThat(open).isEmpty();
  }

  /** Fails with "no room", which the engine says of an entry that it has put into its log, too. */
  @Test
  void nothingIsCertainWithoutRoom() {
    assertThat(LeaderRetry.isCertainlyNotApplied(new ResourceUnavailableException("full")))
        .isFalse();
  }
}
