package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IntegrityTest {
  @Test
  void everyWriteOnceIsWhole() {
    assertThat(Integrity.of(10, 10, 10, 0)).isEqualTo(new Integrity(10, 0, 0, 0));
  }

  @Test
  void anOlderNumberMeansLost() {
    assertThat(Integrity.of(10, 8, 8, 0)).isEqualTo(new Integrity(10, 2, 0, 0));
  }

  @Test
  void fewerWritesThanAcknowledgedMeansLost() {
    assertThat(Integrity.of(10, 10, 9, 0).lost()).isEqualTo(1);
  }

  @Test
  void moreWritesThanAskedForMeansDoubled() {
    assertThat(Integrity.of(10, 10, 12, 0).doubled()).isEqualTo(2);
  }

  @Test
  void oneWithoutAnAnswerMayBeThereOrNot() {
    assertThat(Integrity.of(10, 11, 11, 1)).isEqualTo(new Integrity(10, 0, 0, 0));
    assertThat(Integrity.of(10, 10, 10, 1)).isEqualTo(new Integrity(10, 0, 0, 0));
    assertThat(Integrity.of(10, 11, 12, 1).doubled()).isEqualTo(1);
  }

  @Test
  void whatIsAbsentIsLost() {
    assertThat(Integrity.absent(10)).isEqualTo(new Integrity(10, 10, 0, 0));
    assertThat(Integrity.absent(0).whole()).isFalse();
  }

  @Test
  void whatWasWrongStaysWrong() {
    assertThat(new Integrity(9, 0, 0, 0).after(new Integrity(5, 1, 2, 3)))
        .isEqualTo(new Integrity(9, 1, 2, 3));
  }

  @Test
  void sumsUp() {
    assertThat(new Integrity(1, 2, 3, 4).plus(new Integrity(10, 20, 30, 40)))
        .isEqualTo(new Integrity(11, 22, 33, 44));
  }
}
