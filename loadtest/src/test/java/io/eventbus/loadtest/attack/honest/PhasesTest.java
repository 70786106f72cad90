package io.eventbus.loadtest.attack.honest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PhasesTest {
  private final Phases phases = new Phases();

  private static long ms(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void event(long due, long received) {
    phases.record(ms(due), ms(received));
  }

  @Test
  void nothingCountsBeforeTheQuietPhase() {
    event(10, 20);
    phases.quiet(ms(100));
    event(99, 150);
    assertThat(phases.quietLatency().count()).isZero();
  }

  @Test
  void anEventBelongsToThePhaseInWhichItWasDue() {
    phases.quiet(ms(0));
    event(10, 12);
    phases.attack(ms(100));
    event(110, 120);
    phases.recovery(ms(200));
    event(190, 260);
    event(210, 215);
    phases.end(ms(300));
    event(300, 301);
    assertThat(phases.quietLatency().count()).isEqualTo(1);
    assertThat(phases.attackLatency().count()).isEqualTo(2);
    assertThat(phases.attackLatency().max()).isCloseTo(70, within(0.1));
    assertThat(phases.afterLatency().count()).isEqualTo(1);
    assertThat(phases.afterLatency().max()).isCloseTo(5, within(0.1));
  }

  @Test
  void theAttackAnswersForWhatItHeldUp() {
    phases.quiet(ms(0));
    phases.attack(ms(100));
    event(99, 5_000);
    assertThat(phases.quietLatency().count()).isZero();
    assertThat(phases.attackLatency().max()).isCloseTo(4_901, within(5.0));
  }
}
