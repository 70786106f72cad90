package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LaneStateTest {
  private static final Map<LaneState, List<LaneState>> LEGAL =
      Map.of(
          LaneState.DOWN, List.of(LaneState.CONNECTING, LaneState.CLOSED),
          LaneState.CONNECTING, List.of(LaneState.UP, LaneState.DOWN, LaneState.CLOSED),
          LaneState.UP, List.of(LaneState.DOWN, LaneState.CLOSED),
          LaneState.CLOSED, List.of());

  @Test
  void onlyTheArrowsOfTheTable() {
    for (LaneState from : LaneState.values()) {
      for (LaneState to : LaneState.values()) {
        if (LEGAL.getOrDefault(from, List.of()).contains(to)) {
          assertThat(from.to(to)).isEqualTo(to);
        } else {
          assertThatThrownBy(() -> from.to(to)).isInstanceOf(IllegalStateException.class);
        }
      }
    }
  }
}
