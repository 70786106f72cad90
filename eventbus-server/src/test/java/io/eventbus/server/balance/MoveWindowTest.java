package io.eventbus.server.balance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class MoveWindowTest {
  private static final long MILLI = Duration.ofMillis(1).toNanos();
  private static final int ROUNDS = 40;

  private final MoveWindow window = new MoveWindow(200, Duration.ofSeconds(10));
  private long now;
  private long connection;

  /** Moves as many as may be, all together; returns how many that were. */
  private int round(long millis) {
    int count = window.room(now);
    long begun = now;
    long first = connection;
    for (int i = 0; i < count; i++) {
      window.begun(connection++, begun);
    }
    assertThat(window.room(now)).isZero();
    now += millis * MILLI;
    for (long c = first; c < connection; c++) {
      window.ended(c, begun, now);
    }
    return count;
  }

  @Test
  void swiftMovesMakeItLarger() {
    int first = round(20);
    assertThat(first).isEqualTo(20);
    int last = first;
    for (int i = 0; i < ROUNDS; i++) {
      int next = round(20);
      assertThat(next).isBetween(last, last + 1);
      last = next;
    }
    assertThat(last).isGreaterThan(first + 10).isLessThan(200);
  }

  @Test
  void slowMovesMakeItSmallerOnceForEachRound() {
    round(2_600);
    assertThat(window.room(now)).isEqualTo(10);
    round(2_600);
    assertThat(window.room(now)).isEqualTo(8);
    for (int i = 0; i < ROUNDS; i++) {
      round(5_000);
    }
    assertThat(window.room(now)).as("some always may").isEqualTo(8);
  }

  @Test
  void movesThatAreNeitherLeaveItAsItIs() {
    for (int i = 0; i < ROUNDS; i++) {
      assertThat(round(2_000)).isEqualTo(20);
    }
  }

  @Test
  void whereThereIsRoomToSpareItDoesNotGrow() {
    for (int i = 0; i < 1_000; i++) {
      window.begun(i, now);
      now += 10 * MILLI;
      window.ended(i, now - 10 * MILLI, now);
    }
    assertThat(window.room(now)).isEqualTo(20);
  }

  @Test
  void whoDoesNotAnswerDoesNotKeepOthersFromMoving() {
    for (int i = 0; i < 20; i++) {
      window.begun(i, now);
    }
    now += 1_000 * MILLI;
    assertThat(window.room(now)).isZero();
    now += 1;
    assertThat(window.room(now)).isEqualTo(20);
    // An answer that comes after all is heeded.
    now += 2_000 * MILLI;
    window.ended(0, 0, now);
    assertThat(window.room(now)).isEqualTo(10);
  }

  @Test
  void whereAllAreSlowTheyAreWaitedForLonger() {
    for (int i = 0; i < ROUNDS; i++) {
      round(5_000);
    }
    assertThat(round(5_000)).isEqualTo(8);
    for (int i = 0; i < 8; i++) {
      window.begun(connection++, now);
    }
    now += 15_000 * MILLI;
    assertThat(window.room(now)).as("four times what a move takes").isZero();
    now += 6_000 * MILLI;
    assertThat(window.room(now)).isEqualTo(8);
  }
}
