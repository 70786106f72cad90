package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RestartPauseTest {
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final RestartPause pause = new RestartPause(nanos::get);

  private void pass(long seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  @Test
  void pausesDoubleUpToAMaximum() {
    assertThat(pause.next()).isZero();
    for (long expected : new long[] {1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000}) {
      assertThat(pause.next()).isEqualTo(expected);
    }
  }

  @Test
  void aShardThatFailsSoonAfterItWasReadyWaitsLongerEachTime() {
    assertThat(pause.next()).isZero();
    pause.ready();
    pass(59);
    assertThat(pause.next()).isEqualTo(1_000);
    pass(3_600);
    assertThat(pause.next()).as("never ready").isEqualTo(2_000);
    pause.ready();
    assertThat(pause.next()).isEqualTo(4_000);
  }

  @Test
  void pausesBeginAnewBehindAMinuteInWhichTheShardWasReady() {
    assertThat(pause.next()).isZero();
    assertThat(pause.next()).isEqualTo(1_000);
    pause.ready();
    pass(60);
    assertThat(pause.next()).isZero();
    assertThat(pause.next()).isEqualTo(1_000);
  }
}
