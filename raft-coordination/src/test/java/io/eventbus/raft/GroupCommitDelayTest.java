package io.eventbus.raft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GroupCommitDelayTest {
  private static final long ENTRY = 400_000;

  private final GroupCommitDelay delay = new GroupCommitDelay();
  private long now = 1;

  /**
   * Finishes an entry, lets some commands come a while later, and returns how long the next one
   * still waits.
   */
  private long waits(int commands, int come, long after) {
    now += ENTRY;
    delay.finished(commands, ENTRY, now);
    delay.remainingNanos(now);
    now += after;
    for (int i = 0; i < come; i++) {
      delay.arrived();
    }
    return delay.remainingNanos(now);
  }

  /** Finishes an entry likewise, and lets the next entry go, at the latest when time is up. */
  private long goes(int commands, int come, long after) {
    long left = waits(commands, come, after);
    now += left;
    delay.gone(now);
    return left;
  }

  @Test
  void nobodyIsExpectedBeforeAnythingWasAnswered() {
    delay.arrived();
    assertThat(delay.remainingNanos(now)).isZero();
  }

  @Test
  void waitsForAllOfAFewAndForMostOfMany() {
    assertThat(waits(7, 6, 0)).isPositive();
    assertThat(waits(7, 7, 0)).isZero();
    assertThat(waits(80, 69, 0)).isPositive();
    assertThat(waits(80, 70, 0)).isZero();
  }

  @Test
  void waitsAsLongAsEntriesTakeButNeverLong() {
    assertThat(waits(2, 1, 100)).isEqualTo(ENTRY - 100);
    assertThat(waits(2, 1, ENTRY)).isZero();
    for (int i = 0; i < 100; i++) {
      delay.finished(2, 60_000_000_000L, now);
    }
    assertThat(delay.remainingNanos(now))
        .isBetween(GroupCommitDelay.MAX_NANOS * 9 / 10, GroupCommitDelay.MAX_NANOS);
    assertThat(delay.remainingNanos(now + GroupCommitDelay.MAX_NANOS)).isZero();
    // An entry that took very long is forgotten soon.
    for (int i = 0; i < 40; i++) {
      delay.finished(2, ENTRY, now);
    }
    assertThat(delay.remainingNanos(now)).isBetween(ENTRY, ENTRY * 11 / 10);
  }

  @Test
  void nobodyWaitsForThoseWhoseEntryFailed() {
    delay.finished(2, ENTRY, now);
    delay.failed();
    assertThat(delay.remainingNanos(now)).isZero();
  }

  @Test
  void waitsLessAndLessWhenNobodyComesBack() {
    for (int row : new int[] {1, 2, 4, 8, 16, 32, 64, 64}) {
      assertThat(goes(10, 1, 0)).isPositive();
      for (int i = 0; i < row; i++) {
        assertThat(goes(10, 1, 0)).as("entry %d of %d", i, row).isZero();
      }
    }
    // All are back early.
    assertThat(goes(10, 9, ENTRY / 4)).isZero();
    assertThat(goes(10, 1, 0)).isPositive();
    assertThat(goes(10, 1, 0)).isZero();
    assertThat(goes(10, 1, 0)).isPositive();
  }

  @Test
  void aStragglerIsNoReasonNotToWaitForTheOthers() {
    for (int i = 0; i < 10; i++) {
      assertThat(goes(10, 8, 0)).isPositive();
    }
  }

  @Test
  void callersWhoComeBackLateMakeUpForAFewWhoDoNot() {
    for (int i = 0; i < 5; i++) {
      assertThat(goes(10, 1, 0)).isPositive();
      assertThat(goes(10, 1, 0)).isZero();
      for (int late = 0; late < 8; late++) {
        assertThat(goes(10, 9, ENTRY * 3 / 4)).isZero();
      }
    }
  }

  @Test
  void doesNotWaitForLateCommands() {
    for (int i = 0; i < 5; i++) {
      now += ENTRY;
      delay.finished(10, ENTRY, now);
      now += 100 * ENTRY;
      delay.arrived();
      assertThat(delay.remainingNanos(now)).isZero();
      delay.gone(now);
    }
    assertThat(waits(10, 1, 0)).isPositive();
  }

  @Test
  void commandsThatComeEvenlyDoNotWaitForLong() {
    // A command each 20 us, whatever is answered; entries take 400 us.
    long interval = 20_000;
    long waited = 0;
    int queued = 1;
    int entries = 2_000;
    for (int i = 0; i < entries; i++) {
      int inEntry = queued;
      queued = (int) (ENTRY / interval);
      now += ENTRY;
      delay.finished(inEntry, ENTRY, now);
      for (long left = delay.remainingNanos(now); left > 0; ) {
        long step = Math.min(left, interval);
        now += step;
        waited += step;
        queued++;
        delay.arrived();
        left = delay.remainingNanos(now);
      }
      delay.gone(now);
    }
    assertThat(waited / entries).isLessThan(ENTRY / 10);
  }
}
