package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GatheringTest {
  private static final long ENTRY = 400_000;

  private final Gathering gathering = new Gathering();
  private long now = 1;

  /** Finishes an entry, lets some come, and says how long the next one waits. */
  private long waits(int commands, int come) {
    now += ENTRY;
    gathering.finished(commands, ENTRY, now);
    for (int i = 0; i < come; i++) {
      gathering.arrived();
    }
    return Math.max(0, gathering.remainingNanos(now));
  }

  private long goes(int commands, int come) {
    long waited = waits(commands, come);
    gathering.gone();
    return waited;
  }

  @Test
  void nobodyIsExpectedBeforeAnythingWasAnswered() {
    gathering.arrived();
    assertThat(gathering.remainingNanos(now)).isNotPositive();
  }

  @Test
  void itWaitsForAllOfAFewAndForMostOfMany() {
    assertThat(goes(7, 6)).isPositive();
    assertThat(goes(7, 7)).isZero();
    assertThat(goes(80, 69)).isPositive();
    assertThat(goes(80, 70)).isZero();
  }

  @Test
  void itWaitsAsLongAsEntriesTakeButNeverLong() {
    assertThat(waits(2, 1)).isEqualTo(ENTRY);
    gathering.finished(2, 60_000_000_000L, now);
    assertThat(gathering.remainingNanos(now)).isEqualTo(Gathering.MOST_NANOS);
    assertThat(gathering.remainingNanos(now + Gathering.MOST_NANOS)).isNotPositive();
  }

  @Test
  void whereNobodyComesBackMoreAndMoreEntriesDoNotWait() {
    for (int row : new int[] {1, 2, 4, 8, 16, 32, 64, 64}) {
      assertThat(goes(10, 1)).isPositive();
      for (int i = 0; i < row; i++) {
        assertThat(goes(10, 1)).as("entry %d of %d", i, row).isZero();
      }
    }
    assertThat(goes(10, 5)).isPositive();
    assertThat(goes(10, 1)).as("half came back").isPositive();
    assertThat(goes(10, 1)).isZero();
    assertThat(goes(10, 1)).isPositive();
  }
}
