package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IntegrityTest {
  @Test
  void everyWriteOnceIsWhole() {
    assertThat(Integrity.of(10, 10, 10, false)).isEqualTo(new Integrity(10, 0, 0));
  }

  @Test
  void anOlderNumberMeansLost() {
    assertThat(Integrity.of(10, 8, 8, false)).isEqualTo(new Integrity(10, 2, 0));
  }

  @Test
  void fewerWritesThanAcknowledgedMeansLost() {
    assertThat(Integrity.of(10, 10, 9, false).lost()).isEqualTo(1);
  }

  @Test
  void moreWritesThanAskedForMeansDoubled() {
    assertThat(Integrity.of(10, 10, 12, false).doubled()).isEqualTo(2);
  }

  @Test
  void oneWithoutAnAnswerMayBeThereOrNot() {
    assertThat(Integrity.of(10, 11, 11, true)).isEqualTo(new Integrity(10, 0, 0));
    assertThat(Integrity.of(10, 10, 10, true)).isEqualTo(new Integrity(10, 0, 0));
    assertThat(Integrity.of(10, 11, 12, true).doubled()).isEqualTo(1);
  }

  @Test
  void sumsUp() {
    assertThat(new Integrity(1, 2, 3).plus(new Integrity(10, 20, 30)))
        .isEqualTo(new Integrity(11, 22, 33));
  }
}
