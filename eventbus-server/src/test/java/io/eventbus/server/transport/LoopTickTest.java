package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Interval at which a loop checks its deadlines. */
class LoopTickTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final Wire wire = new Wire();

  private static final class Counting implements ConnectionLoop.Ticking {
    private final boolean isIdle;
    int ticks;

    Counting(boolean isIdle) {
      this.isIdle = isIdle;
    }

    @Override
    public boolean onTick(long nowNanos) {
      ticks++;
      return isIdle;
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
    public double evictionScore(MemoryPressure.Kind kind, long nowNanos) {
      return 0;
    }

    @Override
    public void evict() {}
  }

  @Test
  void aLoopWithoutConnectionsHardlyWakes() {
    wire.freezeTime();
    wire.loop.startTicking();
    Counting connection = new Counting(false);
    assertThat(wire.pass(Duration.ofMillis(10_050))).isEqualTo(10);
    TickOrder.Place place = wire.loop.add(connection);
    wire.pass(Duration.ofMillis(1_050));
    assertThat(connection.ticks).as("ten times a second, from the start").isEqualTo(10);
    wire.loop.remove(place);
    wire.pass(SECOND);
    assertThat(wire.pass(Duration.ofSeconds(10))).isEqualTo(10);
    wire.loop.add(connection);
    wire.pass(Duration.ofMillis(150));
    assertThat(connection.ticks).isEqualTo(11);
  }

  @Test
  void idleConnectionsAreLookedAtOnceInASecondATenthOfThemAtATime() {
    wire.freezeTime();
    wire.loop.startTicking();
    List<Counting> idle = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      Counting connection = new Counting(true);
      idle.add(connection);
      wire.loop.add(connection);
    }
    wire.pass(SECOND);
    idle.forEach(connection -> connection.ticks = 0);
    wire.pass(Duration.ofMillis(100));
    assertThat(idle.stream().mapToInt(connection -> connection.ticks).sum()).isEqualTo(100);
    wire.pass(Duration.ofMillis(900));
    assertThat(idle).allMatch(connection -> connection.ticks == 1);
  }

  @Test
  void aConnectionInWhichSomethingHappensOrWaitsIsLookedAtInTheNextTick() {
    wire.freezeTime();
    wire.loop.startTicking();
    Counting waits = new Counting(false);
    Counting woken = new Counting(true);
    wire.loop.add(waits);
    TickOrder.Place place = wire.loop.add(woken);
    for (int i = 0; i < 1_000; i++) {
      wire.loop.add(new Counting(true));
    }
    wire.pass(SECOND);
    assertThat(waits.ticks).isEqualTo(10);
    int before = woken.ticks;
    for (int i = 0; i < 5; i++) {
      wire.loop.wake(place);
      wire.pass(Duration.ofMillis(100));
    }
    assertThat(woken.ticks).isBetween(before + 5, before + 6);
  }

  @Test
  void connectionsThatGoWhileOthersAreLookedAtMakeNobodyMissATurn() {
    TickOrder order = new TickOrder();
    List<TickOrder.Place> places = new ArrayList<>();
    List<Counting> idle = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Counting connection = new Counting(true);
      idle.add(connection);
      places.add(order.join(connection));
    }
    order.tick(connection -> connection.onTick(0));
    idle.forEach(connection -> connection.ticks = 0);
    for (int tick = 0; tick < TickOrder.ROUND; tick++) {
      order.tick(connection -> connection.onTick(0));
      order.leave(places.get(3 * tick));
    }
    for (int tick = 0; tick < TickOrder.ROUND; tick++) {
      order.tick(connection -> connection.onTick(0));
    }
    assertThat(order.size()).isEqualTo(90);
    for (int i = 0; i < 100; i++) {
      if (i % 3 != 0 || i >= 30) {
        assertThat(idle.get(i).ticks).as("connection %s", i).isPositive();
      }
    }
  }
}
