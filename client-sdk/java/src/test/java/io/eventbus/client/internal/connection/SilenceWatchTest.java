package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SilenceWatchTest {
  private final FakeClock clock = new FakeClock();
  private final ManualScheduler scheduler = new ManualScheduler(clock);
  private final FakeLine line = new FakeLine();
  private int dead;
  private final SilenceWatch watch =
      new SilenceWatch(Duration.ofSeconds(40), clock, scheduler, line, () -> dead++);

  private final class FakeLine implements SilenceWatch.Line {
    private boolean receiving;
    private long heardAt = clock.nanoTime();
    private int pings;

    @Override
    public boolean isReceiving() {
      return receiving;
    }

    @Override
    public long heardAt() {
      return heardAt;
    }

    @Override
    public void ping() {
      pings++;
    }
  }

  @BeforeEach
  void start() {
    watch.start();
  }

  @Test
  void silenceIsNoticedAfterTheTimeoutAndOnce() {
    scheduler.advance(Duration.ofSeconds(20));
    assertThat(line.pings).isEqualTo(1);
    scheduler.advance(Duration.ofMillis(19_999));
    assertThat(dead).isZero();
    scheduler.advance(Duration.ofMillis(1));
    assertThat(dead).isEqualTo(1);
    scheduler.advance(Duration.ofMinutes(5));
    assertThat(dead).isEqualTo(1);
    assertThat(line.pings).isEqualTo(1);
  }

  @Test
  void doesNotPingAnActivePeer() {
    for (int i = 0; i < 20; i++) {
      scheduler.advance(Duration.ofSeconds(19));
      line.heardAt = clock.nanoTime();
    }
    assertThat(line.pings).isZero();
    assertThat(dead).isZero();
  }

  @Test
  void anythingHeardAfterThePingIsAnAnswer() {
    scheduler.advance(Duration.ofSeconds(39));
    line.heardAt = clock.nanoTime();
    scheduler.advance(Duration.ofMillis(39_999));
    assertThat(dead).isZero();
    assertThat(line.pings).isEqualTo(2);
    scheduler.advance(Duration.ofMillis(1));
    assertThat(dead).isEqualTo(1);
  }

  @Test
  void timeInWhichNothingIsReadDoesNotCount() {
    scheduler.advance(Duration.ofSeconds(30));
    line.receiving = true;
    scheduler.advance(Duration.ofMinutes(10));
    assertThat(dead).isZero();
    line.heardAt = clock.nanoTime();
    line.receiving = false;
    scheduler.advance(Duration.ofMillis(39_999));
    assertThat(dead).isZero();
    scheduler.advance(Duration.ofSeconds(20));
    assertThat(dead).isEqualTo(1);
  }

  @Test
  void afterAPauseOfTheProcessTheBusMayStillAnswer() {
    clock.advance(Duration.ofMinutes(10));
    scheduler.advance(Duration.ofSeconds(19));
    assertThat(line.pings).isEqualTo(1);
    assertThat(dead).isZero();
  }

  @Test
  void aStoppedWatchIsQuiet() {
    watch.stop();
    scheduler.advance(Duration.ofMinutes(10));
    assertThat(line.pings).isZero();
    assertThat(dead).isZero();
  }
}
