package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ShardClockTest {
  private static final long BEGUN = 1_000_000_000_000L;
  private static final long HOUR = 3_600_000;

  private final AtomicLong wall = new AtomicLong(BEGUN);
  private final AtomicLong nanos = new AtomicLong();
  private final ShardClock clock = new ShardClock(BEGUN - 50 * HOUR, wall::get, nanos::get);

  private void pass(long millis) {
    wall.addAndGet(millis);
    nanos.addAndGet(Duration.ofMillis(millis).toNanos());
  }

  @Test
  void goesWithTheWallClockAlsoAfterALongStandstill() {
    assertThat(clock.stamp()).isEqualTo(BEGUN);
    pass(100);
    assertThat(clock.stamp()).isEqualTo(BEGUN + 100);
    pass(5 * HOUR);
    assertThat(clock.stamp()).isEqualTo(BEGUN + 100 + 5 * HOUR);
  }

  @Test
  void neverGoesBack() {
    clock.applied(BEGUN + 70);
    assertThat(clock.stamp()).isEqualTo(BEGUN + 70);
    wall.addAndGet(-HOUR);
    assertThat(clock.stamp()).isEqualTo(BEGUN + 70);
    pass(HOUR + 71);
    assertThat(clock.stamp()).isEqualTo(BEGUN + 71);
  }

  @Test
  void followsAJumpOfAnHourAndNoneThatIsLonger() {
    wall.addAndGet(HOUR);
    assertThat(clock.stamp()).isEqualTo(BEGUN + HOUR);
    wall.addAndGet(HOUR + 1);
    assertThat(clock.stamp()).isEqualTo(BEGUN + HOUR);
    pass(500);
    assertThat(clock.stamp()).as("goes on").isEqualTo(BEGUN + HOUR + 500);
    wall.addAndGet(-HOUR - 1);
    assertThat(clock.stamp()).as("is right again").isEqualTo(BEGUN + HOUR + 500);
    pass(1);
    assertThat(clock.stamp()).isEqualTo(BEGUN + HOUR + 501);
  }

  @Test
  void aClockThatWentBackMayComeBack() {
    assertThat(clock.stamp()).isEqualTo(BEGUN);
    wall.addAndGet(-30 * HOUR);
    assertThat(clock.stamp()).isEqualTo(BEGUN);
    pass(1_000);
    wall.addAndGet(30 * HOUR);
    assertThat(clock.stamp()).isEqualTo(BEGUN + 1_000);
  }
}
