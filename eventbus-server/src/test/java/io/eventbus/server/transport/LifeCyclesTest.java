package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LifeCyclesTest {
  private static final Map<ConnectionPhase, Set<ConnectionPhase>> ARROWS =
      Map.of(
          ConnectionPhase.OPEN, Set.of(ConnectionPhase.CLOSING, ConnectionPhase.CLOSED),
          ConnectionPhase.CLOSING, Set.of(ConnectionPhase.CLOSED),
          ConnectionPhase.CLOSED, Set.of());

  @ParameterizedTest
  @EnumSource
  void aConnectionGoesOnlyAlongItsArrows(ConnectionPhase from) {
    for (ConnectionPhase to : ConnectionPhase.values()) {
      if (ARROWS.getOrDefault(from, Set.of()).contains(to)) {
        assertThat(from.to(to)).isEqualTo(to);
      } else {
        assertThatThrownBy(() -> from.to(to))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining(from + " -> " + to);
      }
    }
  }
}
