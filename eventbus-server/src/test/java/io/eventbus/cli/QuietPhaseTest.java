package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QuietPhaseTest {
  private static final long SECOND = 1_000_000_000L;

  private final QuietPhase phase = new QuietPhase(0, 0);
  private long now;
  private long cpu;

  private boolean look(double share, long collections) {
    now += 5 * SECOND;
    cpu += (long) (5 * SECOND * share);
    return phase.look(now, cpu, collections);
  }

  @Test
  void aBusyProcessIsLeftAlone() {
    assertThat(look(1.5, 0)).isFalse();
    assertThat(look(0.2, 3)).isFalse();
  }

  @Test
  void collectsUntilThereWasACollectionAndThenNoMore() {
    assertThat(look(1.5, 7)).isFalse();
    assertThat(look(0.01, 7)).isTrue();
    assertThat(look(0.01, 7)).isTrue();
    assertThat(look(0.01, 8)).isFalse();
    assertThat(look(0.01, 8)).isFalse();
    assertThat(look(0.0, 9)).isFalse();
  }

  @Test
  void collectsAgainAfterItWasBusyAgain() {
    assertThat(look(0.01, 1)).isTrue();
    assertThat(look(0.01, 2)).isFalse();
    assertThat(look(0.9, 5)).isFalse();
    assertThat(look(0.01, 5)).isTrue();
    assertThat(look(0.01, 6)).isFalse();
  }

  @Test
  void collectionsOfABusyProcessDoNotCount() {
    assertThat(look(0.01, 1)).isTrue();
    assertThat(look(0.9, 4)).isFalse();
    assertThat(look(0.01, 4)).isTrue();
    assertThat(look(0.01, 4)).isTrue();
  }
}
