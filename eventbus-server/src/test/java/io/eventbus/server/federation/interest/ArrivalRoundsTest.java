package io.eventbus.server.federation.interest;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.lane.Peer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ArrivalRoundsTest {
  private static final long DEADLINE = 100;

  private final TestBus bus = new TestBus();
  private final Peer b = bus.peer("b", 2);
  private final Peer c = bus.peer("c", 3);
  private final ArrivalRounds rounds = new ArrivalRounds();
  private final List<Boolean> answers = new ArrayList<>();

  @AfterEach
  void close() {
    bus.close();
  }

  private void ask() {
    rounds.add(answers::add);
  }

  private void begin() {
    assertThat(rounds.mayBegin()).isTrue();
    rounds.begin(List.of(b, c), DEADLINE);
  }

  private void end(long now) {
    List<Runnable> due = new ArrayList<>();
    rounds.end(peer -> true, now, due);
    due.forEach(Runnable::run);
  }

  @Test
  void aRoundEndsWhenAllHaveAnswered() {
    ask();
    begin();
    assertThat(rounds.answered(1, b)).isTrue();
    end(0);
    assertThat(answers).isEmpty();
    assertThat(rounds.isEmpty()).isFalse();
    assertThat(rounds.answered(1, c)).isTrue();
    end(0);
    assertThat(answers).containsExactly(true);
    assertThat(rounds.isEmpty()).isTrue();
    assertThat(rounds.answered(1, c)).as("it is over").isFalse();
  }

  @Test
  void aRoundIsGivenUpAtItsDeadline() {
    ask();
    begin();
    end(DEADLINE - 1);
    assertThat(answers).isEmpty();
    end(DEADLINE);
    assertThat(answers).containsExactly(false);
  }

  @Test
  void aBusThatIsForgottenIsNotWaitedFor() {
    ask();
    begin();
    rounds.forget(b);
    assertThat(rounds.answered(1, c)).isTrue();
    end(0);
    assertThat(answers).containsExactly(true);
  }

  @Test
  void callersDuringRoundsShareTheNextRound() {
    for (int i = 0; i < 4; i++) {
      ask();
      begin();
    }
    ask();
    ask();
    assertThat(rounds.mayBegin()).isFalse();
    end(DEADLINE);
    assertThat(answers).hasSize(4);
    begin();
    rounds.answered(5, b);
    rounds.answered(5, c);
    end(0);
    assertThat(answers).hasSize(6).endsWith(true, true);
  }
}
