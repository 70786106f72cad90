package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.run.CoordinationScenario.Kill;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CoordinationScenarioTest {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void theLeaderComesLast() {
    assertThat(CoordinationScenario.LEADER.kills()).containsExactly(new Kill(true, FIRST));
    assertThat(CoordinationScenario.TWO_FOLLOWERS.kills())
        .containsExactly(new Kill(false, FIRST), new Kill(false, SECOND));
    assertThat(CoordinationScenario.FOLLOWER_AND_LEADER.kills())
        .containsExactly(new Kill(false, FIRST), new Kill(true, SECOND));
  }

  @Test
  void whoLeadsAtThatMomentCounts() {
    assertThat(new Kill(true, FIRST).choose(List.of(0, 1, 2), 2)).isEqualTo(2);
    assertThat(new Kill(false, FIRST).choose(List.of(0, 1, 2), 0)).isEqualTo(1);
    assertThat(new Kill(false, FIRST).choose(List.of(1, 2), 2)).isEqualTo(1);
  }

  @Test
  void aMajorityStays() {
    assertThat(CoordinationScenario.LEADER.fits(1)).isFalse();
    assertThat(CoordinationScenario.LEADER.fits(3)).isTrue();
    assertThat(CoordinationScenario.TWO_FOLLOWERS.fits(3)).isFalse();
    assertThat(CoordinationScenario.FOLLOWER_AND_LEADER.fits(5)).isTrue();
  }

  @Test
  void withoutALeaderNobodyIsKilled() {
    for (boolean leader : new boolean[] {true, false}) {
      assertThatThrownBy(() -> new Kill(leader, FIRST).choose(List.of(0, 1, 2), -1))
          .isInstanceOf(CoordinationException.class);
    }
  }
}
