package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Positions of a journal by the terms of its shard. */
class LedPositionsTest {
  private final LedPositions positions = new LedPositions();

  @Test
  void aPositionStaysWhatItWasWhenItWasAdded() {
    assertThat(positions.add(10, true)).isTrue();
    assertThat(positions.add(20, false)).isTrue();
    assertThat(positions.add(15, true)).isTrue();
    assertThat(positions.add(25, false)).isTrue();
    assertThat(positions.end()).isEqualTo(25);
    assertThat(positions.isLed(10)).isTrue();
    assertThat(positions.isLed(11)).isFalse();
    assertThat(positions.isLed(25)).isFalse();
  }

  @Test
  void tooManyChangesAreNotLedAndTold() {
    long last = 2L * LedPositions.MAX_RANGES;
    int told = 0;
    for (long i = 1; i <= last; i++) {
      told += positions.add(i, i % 2 == 1) ? 0 : 1;
    }
    assertThat(told).isEqualTo(LedPositions.MAX_RANGES / 2);
    assertThat(positions.isLed(LedPositions.MAX_RANGES - 1)).isTrue();
    assertThat(positions.isLed(last - 1)).isFalse();
    assertThat(positions.isLed(last)).isFalse();
    assertThat(positions.add(last + 1, true)).as("the others are forgotten").isTrue();
    assertThat(positions.isLed(last + 1)).isTrue();
  }
}
