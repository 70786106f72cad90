package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BusLifeTest {
  private final BusLife life = new BusLife();

  @Test
  void aBusThatFailsWhileItStartsIsNeverUp() {
    life.fail("a loop has ended");
    assertThat(life.becomeUp()).contains("a loop has ended");
    assertThat(life.state()).isEqualTo(ServerState.FAILED);
    assertThat(life.failed().toCompletableFuture()).isCompletedWithValue("a loop has ended");
  }

  @Test
  void theFirstFailureCounts() {
    assertThat(life.becomeUp()).isEmpty();
    life.fail("first");
    life.fail("second");
    assertThat(life.reason()).isEqualTo("first");
    assertThat(life.state()).isEqualTo(ServerState.FAILED);
  }

  @Test
  void aBusEndsOnceAndWhatFailsThenIsPartOfIt() {
    assertThat(life.beginEnd()).as("while it starts").isFalse();
    assertThat(life.becomeUp()).isEmpty();
    assertThat(life.beginEnd()).isTrue();
    life.fail("late");
    assertThat(life.hasFailed()).isFalse();
    assertThat(life.beginEnd()).isFalse();
    life.end();
    assertThat(life.state()).isEqualTo(ServerState.STOPPED);
  }

  @Test
  void everyLastStepIsTaken() {
    List<String> taken = new ArrayList<>();
    LastSteps end = new LastSteps();
    end.run(
        "serving",
        () -> {
          throw new IllegalStateException("on purpose");
        });
    end.run(
        "balancing",
        () -> {
          throw new AssertionError("on purpose");
        });
    end.run("the cluster", () -> taken.add("the cluster"));
    assertThat(taken).containsExactly("the cluster");
  }
}
