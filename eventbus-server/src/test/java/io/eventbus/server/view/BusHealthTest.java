package io.eventbus.server.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.cluster.MembershipStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class BusHealthTest {
  private static MembershipStatus standing(MembershipStatus.Phase phase, String detail) {
    return new MembershipStatus(phase, "c", "", "VOTER", "UP", null, 1, 0, detail);
  }

  @Test
  void aMemberServesWithoutALeader() {
    BusHealth health =
        BusHealth.serving(List.of(), standing(MembershipStatus.Phase.MEMBER, "no leader"));
    assertThat(health.state()).isEqualTo(BusHealth.State.UP);
    assertThat(health.reasons()).isEmpty();
  }

  @Test
  void aBusThatLooksForItsClusterIsNotReady() {
    BusHealth health =
        BusHealth.serving(List.of(), standing(MembershipStatus.Phase.JOINING, "waits for b"));
    assertThat(health.state()).isEqualTo(BusHealth.State.STARTING);
    assertThat(health.reasons()).containsExactly("registry: waits for b");
  }

  @Test
  void aRegistryThatHasFailedIsAFailedBus() {
    BusHealth health =
        BusHealth.serving(List.of(), standing(MembershipStatus.Phase.FAILED, "see the log"));
    assertThat(health.state()).isEqualTo(BusHealth.State.FAILED);
    assertThat(health.reasons()).containsExactly("registry: see the log");
  }

  @Test
  void aLoopThatHangsIsAFailedBus() {
    BusHealth health =
        BusHealth.serving(List.of("loop 1"), standing(MembershipStatus.Phase.MEMBER, ""));
    assertThat(health.state()).isEqualTo(BusHealth.State.FAILED);
    assertThat(health.reasons()).containsExactly("loop 1");
  }
}
