package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.run.Scenario.Kill;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ScenarioTest {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void followersAreNotTheLeader() {
    assertThat(Scenario.ONE_FOLLOWER.kills(3, 0)).containsExactly(new Kill(1, FIRST));
    assertThat(Scenario.ONE_FOLLOWER.kills(3, 2)).containsExactly(new Kill(0, FIRST));
    assertThat(Scenario.TWO_FOLLOWERS.kills(5, 1))
        .containsExactly(new Kill(0, FIRST), new Kill(2, SECOND));
  }

  @Test
  void theLeaderComesLast() {
    assertThat(Scenario.LEADER.kills(3, 2)).containsExactly(new Kill(2, FIRST));
    assertThat(Scenario.FOLLOWER_AND_LEADER.kills(5, 0))
        .containsExactly(new Kill(1, FIRST), new Kill(0, SECOND));
  }

  @Test
  void aMajorityStays() {
    assertThat(Scenario.LEADER.fits(1)).isFalse();
    assertThat(Scenario.LEADER.fits(3)).isTrue();
    assertThat(Scenario.TWO_FOLLOWERS.fits(3)).isFalse();
    assertThat(Scenario.FOLLOWER_AND_LEADER.fits(5)).isTrue();
  }

  @Test
  void withoutALeaderItIsNotKilled() {
    assertThatThrownBy(() -> Scenario.LEADER.kills(3, -1))
        .isInstanceOf(CoordinationException.class);
  }
}
