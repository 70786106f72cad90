package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ServerStateTest {
  private static final Map<ServerState, Set<ServerState>> ARROWS =
      Map.of(
          ServerState.STARTING, Set.of(ServerState.UP, ServerState.FAILED, ServerState.STOPPED),
          ServerState.UP, Set.of(ServerState.DRAINING, ServerState.FAILED),
          ServerState.FAILED, Set.of(ServerState.DRAINING, ServerState.STOPPED),
          ServerState.DRAINING, Set.of(ServerState.STOPPED),
          ServerState.STOPPED, Set.of());

  @ParameterizedTest
  @EnumSource
  void aBusGoesOnlyAlongItsArrows(ServerState from) {
    for (ServerState to : ServerState.values()) {
      assertThat(from.mayBecome(to))
          .as("%s -> %s", from, to)
          .isEqualTo(ARROWS.getOrDefault(from, Set.of()).contains(to));
    }
  }
}
