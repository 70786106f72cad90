package io.eventbus.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NumberCheckTest {
  private final NumberCheck check = new NumberCheck();

  private void accept(long... numbers) {
    for (long number : numbers) {
      check.accept(number);
    }
  }

  @Test
  void numbersOnceAndInOrderAreWhole() {
    for (long number = 1; number <= 3L * NumberCheck.REMEMBERED; number++) {
      check.accept(number);
    }
    assertThat(check.missing(3L * NumberCheck.REMEMBERED)).isZero();
    assertThat(check.doubled()).isZero();
    assertThat(check.reordered()).isZero();
  }

  @Test
  void missingRepeatedAndLateNumbersAreCounted() {
    accept(1, 2, 4, 4, 3, 7);
    assertThat(check.missing(9)).isEqualTo(4);
    assertThat(check.doubled()).isEqualTo(1);
    assertThat(check.reordered()).isEqualTo(1);
    assertThat(check.received()).isEqualTo(6);
  }

  @Test
  void marksOfNumbersLongAgoAreNotTakenForLaterOnes() {
    accept(1, 2, 3, 2L + NumberCheck.REMEMBERED, 3L + NumberCheck.REMEMBERED);
    accept(1L + NumberCheck.REMEMBERED);
    assertThat(check.doubled()).isZero();
    assertThat(check.reordered()).isEqualTo(1);
    accept(10L * NumberCheck.REMEMBERED, 10L * NumberCheck.REMEMBERED - 1);
    assertThat(check.doubled()).isZero();
    assertThat(check.reordered()).isEqualTo(2);
  }
}
