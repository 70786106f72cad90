package io.eventbus.loadtest.coordination.eventbus;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RepetitionsTest {
  private final Repetitions repetitions = new Repetitions();

  @Test
  void aNumberThatDoesNotGoForwardIsOneChangeTooMany() {
    repetitions.changed("a", "   4", "   5");
    assertThat(repetitions.of("a")).isZero();
    repetitions.changed("a", "   5", "   5");
    repetitions.changed("a", "   5", "   3");
    repetitions.changed("b", "9 x", "9 y");
    assertThat(repetitions.of("a")).isEqualTo(2);
    assertThat(repetitions.of("b")).isEqualTo(1);
  }

  @Test
  void oneThatStandsForSeveralIsNone() {
    repetitions.changed("a", "4", "9");
    assertThat(repetitions.of("a")).isZero();
  }
}
