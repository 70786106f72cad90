package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.Integrity;
import org.junit.jupiter.api.Test;

class RegisterVerdictTest {
  private static Integrity verdict(long lost, long doubled) {
    return new Integrity(lost, doubled, 0, 0);
  }

  @Test
  void everyWriteOnceIsWhole() {
    assertThat(RegisterVerdict.of(10, 10, 10, 0)).isEqualTo(Integrity.WHOLE);
  }

  @Test
  void anOlderNumberAndMissingWritesAreLost() {
    assertThat(RegisterVerdict.of(10, 8, 8, 0)).isEqualTo(verdict(2, 0));
    assertThat(RegisterVerdict.of(10, 10, 9, 0)).isEqualTo(verdict(1, 0));
    assertThat(RegisterVerdict.absent(10)).isEqualTo(verdict(10, 0));
    assertThat(RegisterVerdict.absent(0)).isEqualTo(verdict(1, 0));
  }

  @Test
  void moreWritesThanAskedForAreDoubled() {
    assertThat(RegisterVerdict.of(10, 10, 12, 0)).isEqualTo(verdict(0, 2));
  }

  @Test
  void aWriteWithoutAnAnswerMayBeThereOrNot() {
    assertThat(RegisterVerdict.of(10, 11, 11, 1)).isEqualTo(Integrity.WHOLE);
    assertThat(RegisterVerdict.of(10, 10, 10, 1)).isEqualTo(Integrity.WHOLE);
    assertThat(RegisterVerdict.of(10, 11, 12, 1)).isEqualTo(verdict(0, 1));
  }

  @Test
  void wrongStaysWrong() {
    assertThat(RegisterVerdict.worse(Integrity.WHOLE, new Integrity(1, 2, 0, 3)))
        .isEqualTo(new Integrity(1, 2, 0, 3));
  }
}
