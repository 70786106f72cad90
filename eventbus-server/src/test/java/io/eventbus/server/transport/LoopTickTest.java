package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How often a loop looks at its deadlines. */
class LoopTickTest {
  private final Wire wire = new Wire();

  private static final class Counting implements ConnectionLoop.Ticking {
    int ticks;

    @Override
    public void onTick(long nowNanos) {
      ticks++;
    }

    @Override
    public void stopReading() {}

    @Override
    public void shutdown() {}

    @Override
    public long heldBytes() {
      return 0;
    }

    @Override
    public double claim(MemoryPressure.Kind kind, long nowNanos) {
      return 0;
    }

    @Override
    public void evict() {}
  }

  @Test
  void aLoopWithoutConnectionsHardlyWakes() {
    wire.freezeTime();
    wire.loop.startTicking();
    Counting connection = new Counting();
    assertThat(wire.pass(Duration.ofMillis(10_050))).isEqualTo(10);
    wire.loop.add(connection);
    wire.pass(Duration.ofMillis(1_050));
    assertThat(connection.ticks).as("ten times a second, from the start").isEqualTo(10);
    wire.loop.remove(connection);
    wire.pass(Duration.ofSeconds(1));
    assertThat(wire.pass(Duration.ofSeconds(10))).isEqualTo(10);
    wire.loop.add(connection);
    wire.pass(Duration.ofMillis(150));
    assertThat(connection.ticks).isEqualTo(11);
  }
}
