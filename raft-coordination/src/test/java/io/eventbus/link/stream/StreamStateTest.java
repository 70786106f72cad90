package io.eventbus.link.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StreamStateTest {
  private static final Map<StreamState, List<StreamState>> LEGAL =
      Map.of(
          StreamState.DOWN, List.of(StreamState.CONNECTING, StreamState.CLOSED),
          StreamState.CONNECTING, List.of(StreamState.UP, StreamState.DOWN, StreamState.CLOSED),
          StreamState.UP, List.of(StreamState.DOWN, StreamState.CLOSED),
          StreamState.CLOSED, List.of());

  @Test
  void onlyTheArrowsOfTheTable() {
    for (StreamState from : StreamState.values()) {
      for (StreamState to : StreamState.values()) {
        if (LEGAL.getOrDefault(from, List.of()).contains(to)) {
          assertThat(from.to(to)).isEqualTo(to);
        } else {
          assertThatThrownBy(() -> from.to(to)).isInstanceOf(IllegalStateException.class);
        }
      }
    }
  }
}
