package io.eventbus.server.balance.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class MoveWindowTest {
  private static final long MILLI = Duration.ofMillis(1).toNanos();
  private static final int ROUNDS = 40;
  private static final int FIRST = 10;
  private static final int MIN_MOVES = 4;
  private static final int MAX_MOVES = 200;

  private final MoveWindow window = new MoveWindow(MAX_MOVES, Duration.ofSeconds(10));
  private long now;
  private long connection;

  /** Moves as many as may be, all together; returns how many that were. */
  private int round(IntToLongFunction millis) {
    int count = window.room(now);
    long begun = now;
    long first = connection;
    for (int i = 0; i < count; i++) {
      window.begun(connection++, begun);
    }
    assertThat(window.room(now)).isZero();
    now += millis.applyAsLong(count) * MILLI;
    for (long c = first; c < connection; c++) {
      window.ended(c, begun, begun, now);
    }
    return count;
  }

  private int round(long millis) {
    return round(count -> millis);
  }

  /** Returns the most that were under way in any of some rounds, after some others. */
  private int max(IntToLongFunction millis) {
    for (int i = 0; i < ROUNDS; i++) {
      round(millis);
    }
    int max = 0;
    for (int i = 0; i < ROUNDS; i++) {
      max = Math.max(max, round(millis));
    }
    return max;
  }

  @Test
  void afterAPauseTheFirstAreWaitedForAgain() {
    for (int i = 0; i < 10; i++) {
      round(20);
    }
    assertThat(window.room(now)).isGreaterThan(10 * FIRST);
    now += 2_000 * MILLI;
    window.begun(connection++, now);
    assertThat(window.room(now)).isEqualTo(FIRST - 1);
    for (int i = 1; i < FIRST; i++) {
      window.begun(connection++, now);
    }
    now += 1_001 * MILLI;
    assertThat(window.room(now)).isZero();
  }

  @Test
  void noMovesBeginWhileMovesStandStill() {
    for (int i = 0; i < 10; i++) {
      round(20);
    }
    int count = window.room(now);
    for (int i = 0; i < count; i++) {
      window.begun(connection++, now + 1);
    }
    now += 1_002 * MILLI;
    assertThat(window.room(now)).isZero();
  }

  @Test
  void anImmediateStayDoesNotCountAsASwiftMove() {
    for (int i = 0; i < FIRST; i++) {
      window.begun(connection++, now);
    }
    now += MILLI;
    window.stayed(0, now - MILLI, now - MILLI, now);
    assertThat(window.room(now)).isEqualTo(1);
    now += 2_000 * MILLI;
    assertThat(window.room(now)).as("the others are still waited for").isEqualTo(1);
    // A client that stays after a long time is as slow as one that moves after a long time.
    now += 4_000 * MILLI;
    window.stayed(1, 0, 0, now);
    assertThat(window.room(now)).isZero();
  }

  @Test
  void swiftMovesMakeItNearlyTwiceAsLargeEachRound() {
    assertThat(round(20)).isEqualTo(FIRST);
    int before = FIRST;
    for (int i = 0; i < 3; i++) {
      int next = round(20);
      // The last ones find room to spare.
      assertThat(next).isBetween(before + before / 3, 2 * before);
      before = next;
    }
    for (int i = 0; i < ROUNDS; i++) {
      round(20);
    }
    assertThat(round(20)).isEqualTo(MAX_MOVES);
  }

  @Test
  void slowMovesMakeItSmallerOnceForEachRound() {
    while (window.room(now) < MAX_MOVES) {
      round(20);
    }
    round(5_100);
    assertThat(window.room(now)).isEqualTo(MAX_MOVES / 2);
    round(5_100);
    assertThat(window.room(now)).isEqualTo(MAX_MOVES / 4);
    for (int i = 0; i < ROUNDS; i++) {
      round(6_000);
    }
    assertThat(window.room(now)).as("some always may").isEqualTo(MIN_MOVES);
  }

  @Test
  void afterASlowOneItGrowsSlowly() {
    while (window.room(now) < MAX_MOVES) {
      round(20);
    }
    round(5_100);
    int before = window.room(now);
    round(20);
    assertThat(window.room(now)).isBetween(before + 1, before + 10);
  }

  /** On a machine that makes each step wait, but has room for many: few at a time are slow. */
  @Test
  void movesThatTakeLongHoweverFewThereAreDoNotKeepItSmall() {
    assertThat(max(count -> 3_000 + count)).isGreaterThan(150);
  }

  /** On a machine at its limit, more of them would only wait for each other. */
  @Test
  void movesThatWaitForEachOtherBoundIt() {
    assertThat(max(count -> 50L * count)).isBetween(15, 40);
    assertThat(max(count -> 500L * count)).isBetween(MIN_MOVES, 12);
  }

  /** An idle bus had few moves; now each step waits. */
  @Test
  void swiftTimesFromBeforeAPauseAreForgotten() {
    round(20);
    now += 1_001 * MILLI;
    assertThat(max(count -> 3_000 + count)).isGreaterThan(150);
  }

  /** A quick machine has become slow; now each step waits. */
  @Test
  void swiftTimesFromBeforeAHalvingAreForgotten() {
    round(20);
    while (window.room(now) > MIN_MOVES) {
      round(6_000);
    }
    for (int i = 0; i < ROUNDS; i++) {
      round(3_000);
    }
    assertThat(window.room(now)).isGreaterThan(100);
  }

  @Test
  void followsTheSpeedOfTheMachine() {
    max(count -> 1_000L * count);
    assertThat(window.room(now)).isLessThanOrEqualTo(6);
    assertThat(max(count -> 20)).isEqualTo(MAX_MOVES);
    assertThat(max(count -> 300L * count)).isLessThanOrEqualTo(18);
  }

  @Test
  void anUnusedWindowDoesNotGrow() {
    for (int i = 0; i < 1_000; i++) {
      window.begun(i, now);
      now += 10 * MILLI;
      window.ended(i, now - 10 * MILLI, now - 10 * MILLI, now);
    }
    assertThat(window.room(now)).isEqualTo(FIRST);
  }

  @Test
  void aClientsTimeBeginsWhenItHasReadTheRequest() {
    for (int i = 0; i < FIRST; i++) {
      window.begun(i, now);
    }
    now += 4_900 * MILLI;
    window.ended(0, 0, now - 20 * MILLI, now);
    now += 200 * MILLI;
    window.ended(1, 0, now - 20 * MILLI, now);
    assertThat(window.room(now)).as("two are done, and both were swift").isEqualTo(4);
  }

  @Test
  void aSilentClientDoesNotBlockOtherMoves() {
    round(20);
    int count = window.room(now);
    long begun = now;
    for (int i = 0; i < count; i++) {
      window.begun(connection++, now);
    }
    now += 1_000 * MILLI;
    assertThat(window.room(now)).isZero();
    now += 1;
    assertThat(window.room(now)).isEqualTo(count);
    // An answer that comes after all is heeded.
    now += 5_000 * MILLI;
    window.ended(connection - 1, begun, begun, now);
    assertThat(window.room(now)).isEqualTo(count / 2);
  }

  /** Otherwise all clients of a slow machine would move before the first of them is done. */
  @Test
  void beforeOneIsDoneTheyAreWaitedForLonger() {
    for (int i = 0; i < FIRST; i++) {
      window.begun(i, now);
    }
    now += 5_000 * MILLI;
    assertThat(window.room(now)).isZero();
    now += 1;
    assertThat(window.room(now)).isEqualTo(FIRST);
  }

  @Test
  void theFirstThatIsDoneSaysHowLongTheOthersAreWaitedFor() {
    for (int i = 0; i < FIRST; i++) {
      window.begun(i, now);
    }
    now += 3_000 * MILLI;
    window.ended(0, 0, 0, now);
    int room = window.room(now);
    now += 9_000 * MILLI;
    assertThat(window.room(now)).as("four times what a move takes").isEqualTo(room);
    now += 1;
    assertThat(window.room(now)).isEqualTo(room + FIRST - 1);
  }
}
