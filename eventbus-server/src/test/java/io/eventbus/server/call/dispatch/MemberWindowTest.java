package io.eventbus.server.call.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MemberWindowTest {
  private static final long MILLIS = 1_000_000;

  private long now = 5;

  /** Completes calls at an even rate. */
  private void complete(MemberWindow window, int calls, long eachNanos) {
    for (int i = 0; i < calls; i++) {
      now += eachNanos;
      window.succeeded();
      window.completed(now);
    }
  }

  private void fail(MemberWindow window, int times) {
    for (int i = 0; i < times; i++) {
      assertThat(window.failed()).as("failure %d", i).isFalse();
    }
  }

  @Test
  void startsWithTheDeclaredConcurrency() {
    assertThat(new MemberWindow(1, now).limit()).isEqualTo(1);
    assertThat(new MemberWindow(64, now).limit()).isEqualTo(64);
    assertThat(new MemberWindow(256, now).limit()).isEqualTo(64);
    assertThat(new MemberWindow(0, now).limit()).isZero();
  }

  @Test
  void itDoublesEvery100Milliseconds() {
    MemberWindow window = new MemberWindow(250, now);
    complete(window, 99, MILLIS);
    assertThat(window.limit()).isEqualTo(64);
    complete(window, 1, MILLIS);
    assertThat(window.limit()).isEqualTo(128);
    complete(window, 99, MILLIS);
    assertThat(window.limit()).isEqualTo(128);
    complete(window, 1, MILLIS);
    assertThat(window.limit()).isEqualTo(251);
  }

  @Test
  void theWindowIncludesTheCompletionsOfAMillisecond() {
    MemberWindow window = new MemberWindow(16, now);
    complete(window, 800_000, 10_000);
    assertThat(window.limit()).isEqualTo(116);
    // Ten times slower: a tenth waits.
    complete(window, 80_000, 100_000);
    assertThat(window.limit()).isEqualTo(26);
    complete(window, 8_000_000, 100);
    assertThat(window.limit()).isEqualTo(16 + 1_024);
  }

  @Test
  void placesAreAcquiredAndReleased() {
    MemberWindow window = new MemberWindow(2, now);
    assertThat(window.tryAcquire()).isTrue();
    assertThat(window.hasFree()).isTrue();
    assertThat(window.tryAcquire()).isTrue();
    assertThat(window.tryAcquire()).isFalse();
    assertThat(window.outstanding()).isEqualTo(2);
    window.release();
    assertThat(window.tryAcquire()).isTrue();
  }

  @Test
  void aShrinkingWindowRevokesFreePlaces() {
    MemberWindow window = new MemberWindow(4, now);
    window.tryAcquire();
    window.tryAcquire();
    window.capacity(0);
    assertThat(window.tryAcquire()).isFalse();
    assertThat(window.outstanding()).isEqualTo(2);
    window.release();
    assertThat(window.tryAcquire()).isFalse();
    window.capacity(3);
    assertThat(window.limit()).isEqualTo(3);
    assertThat(window.outstanding()).isEqualTo(1);
  }

  @Test
  void pausesAfterFiveFailuresInARow() {
    MemberWindow window = new MemberWindow(4, now);
    fail(window, 4);
    window.succeeded();
    fail(window, 4);
    assertThat(window.failed()).isTrue();
    window.pause();
    assertThat(window.isPaused()).isTrue();
    assertThat(window.tryAcquire()).isFalse();
    complete(window, 100, 10 * MILLIS);
    assertThat(window.limit()).isZero();
  }

  @Test
  void eachPauseDoublesAndOneCallFollows() {
    MemberWindow window = new MemberWindow(4, now);
    fail(window, 4);
    long[] seconds = {1, 2, 4, 8, 16, 30, 30};
    for (long each : seconds) {
      assertThat(window.failed()).isTrue();
      assertThat(window.pause()).isEqualTo(each * 1_000 * MILLIS);
      window.resume();
      assertThat(window.limit()).isEqualTo(1);
    }
    complete(window, 1, 100 * MILLIS);
    assertThat(window.limit()).isEqualTo(2);
    fail(window, 4);
    assertThat(window.failed()).isTrue();
    assertThat(window.pause()).isEqualTo(1_000 * MILLIS);
  }

  @Test
  void failuresDoNotGrowTheWindow() {
    MemberWindow window = new MemberWindow(40, now);
    assertThat(window.failed()).isFalse();
    now += 200 * MILLIS;
    window.completed(now);
    assertThat(window.limit()).isEqualTo(40);
  }

  @Test
  void aClosedWindowStaysClosed() {
    MemberWindow window = new MemberWindow(4, now);
    window.close();
    complete(window, 10, 100 * MILLIS);
    window.capacity(8);
    window.resume();
    assertThat(window.tryAcquire()).isFalse();
  }
}
