package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.config.ServerConfig;
import io.netty.channel.DefaultEventLoop;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** State of a loop is used by its thread only; assertions are on in tests. */
@Timeout(120)
class ConfinementTest {
  @Test
  void foreignThreadsOnALoopAreDetected() throws Exception {
    DefaultEventLoop thread = new DefaultEventLoop();
    try {
      ConnectionLoop loop = new ConnectionLoop(3, thread, ServerConfig.of(Map.of()));
      assertThatThrownBy(() -> loop.nextTurn("a", () -> {}))
          .isInstanceOf(AssertionError.class)
          .hasMessage("not on loop 3");
      assertThatThrownBy(loop::flushSoon).isInstanceOf(AssertionError.class);
      thread.submit(() -> loop.nextTurn("a", () -> {})).get(60, TimeUnit.SECONDS);
    } finally {
      assertThat(thread.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(60, TimeUnit.SECONDS))
          .isTrue();
    }
  }
}
