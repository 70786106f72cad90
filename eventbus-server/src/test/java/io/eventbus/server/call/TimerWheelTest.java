package io.eventbus.server.call;

import static io.eventbus.server.call.CallFixture.MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TimerWheelTest {
  private static final class FakeLoop implements LoopPort {
    long now = Long.MAX_VALUE - 20_000 * MILLIS;
    @Nullable Runnable task;
    long at;
    int asked;
    @Nullable Runnable slice;
    long cost;

    @Override
    public boolean isCurrent() {
      return true;
    }

    @Override
    public long nanoTime() {
      now += cost;
      return now;
    }

    @Override
    public void later(Runnable what, long nanos) {
      if (nanos < TimerWheel.TICK_NANOS) {
        assertThat(slice).as("one at a time").isNull();
        slice = what;
        return;
      }
      assertThat(task).as("one at a time").isNull();
      asked++;
      task = what;
      at = now + nanos;
    }

    @Override
    public void flushSoon() {}

    void advance(long nanos) {
      long until = now + nanos;
      while (task != null && at - until <= 0) {
        now = at;
        Runnable due = task;
        task = null;
        due.run();
      }
      now = until;
    }
  }

  private final FakeLoop loop = new FakeLoop();
  private final Slices slices = new Slices(loop, () -> false);
  private final TimerWheel deadlines = new TimerWheel(loop, slices);
  private final TimerWheel.Dues dues = new TimerWheel.Dues(deadlines, nanos -> {});
  private final List<String> expired = new ArrayList<>();

  private abstract class Entry extends TimerWheel.Entry {
    @Override
    TimerWheel.Dues dues() {
      return dues;
    }
  }

  private final class Named extends Entry {
    private final String name;
    private final long at;

    Named(String name, long nanos) {
      this.name = name;
      this.at = loop.now + nanos;
      deadlines.arm(this, at, loop.now);
    }

    @Override
    void due(long nowNanos) {
      assertThat(nowNanos - at).as(name).isBetween(0L, 2 * TimerWheel.TICK_NANOS);
      expired.add(name);
    }
  }

  @Test
  void eachEntryIsDueAtItsTime() {
    // Across the overflow of nanoseconds, and over more than a turn of the wheel.
    for (int millis : new int[] {0, 1, 10, 11, 999, 5_119, 5_120, 5_121, 30_000, 600_000}) {
      var unused = new Named(millis + "", millis * MILLIS);
    }
    assertThat(expired).isEmpty();
    loop.advance(601_000 * MILLIS);
    assertThat(expired)
        .containsExactly("0", "1", "10", "11", "999", "5119", "5120", "5121", "30000", "600000");
    assertThat(deadlines.size()).isZero();
  }

  @Test
  void sleepsWithoutEntries() {
    loop.advance(7_000 * MILLIS);
    assertThat(loop.asked).isZero();
    Named entry = new Named("a", 30 * MILLIS);
    deadlines.disarm(entry);
    deadlines.disarm(entry);
    loop.advance(1_000 * MILLIS);
    assertThat(loop.asked).isEqualTo(1);
    assertThat(expired).isEmpty();
    var unused = new Named("b", 30 * MILLIS);
    loop.advance(40 * MILLIS);
    assertThat(expired).containsExactly("b");
    loop.advance(60_000 * MILLIS);
    assertThat(loop.asked).isLessThan(8);
  }

  @Test
  void aDeadlineCanBeMoved() {
    Named entry = new Named("a", 10_000 * MILLIS);
    TimerWheel.Entry later =
        new Entry() {
          @Override
          void due(long nowNanos) {
            expired.add("moved");
          }
        };
    deadlines.arm(later, loop.now + 10 * MILLIS, loop.now);
    deadlines.arm(later, loop.now + 500 * MILLIS, loop.now);
    assertThat(deadlines.size()).isEqualTo(2);
    loop.advance(490 * MILLIS);
    assertThat(expired).isEmpty();
    loop.advance(30 * MILLIS);
    assertThat(expired).containsExactly("moved");
    deadlines.disarm(entry);
  }

  @Test
  void aDueEntryMayArmAndDisarmOthers() {
    List<TimerWheel.Entry> victims = new ArrayList<>();
    victims.add(new Named("first", 20 * MILLIS));
    deadlines.arm(
        new Entry() {
          @Override
          void due(long nowNanos) {
            victims.forEach(deadlines::disarm);
            var unused = new Named("next", 5 * MILLIS);
          }
        },
        loop.now + 20 * MILLIS,
        loop.now);
    victims.add(new Named("second", 20 * MILLIS));
    loop.advance(100 * MILLIS);
    assertThat(expired).hasSize(2).endsWith("next");
  }

  @Test
  void aDelayedLoopProcessesAllAtOnce() {
    for (int i = 0; i < 100; i++) {
      deadlines.arm(
          new Entry() {
            @Override
            void due(long nowNanos) {
              expired.add("late");
            }
          },
          loop.now + i * (400L * MILLIS),
          loop.now);
    }
    loop.at = loop.now + 50_000 * MILLIS;
    loop.advance(50_000 * MILLIS);
    assertThat(expired).filteredOn("late"::equals).hasSize(100);
  }

  /** Entry that records its expiry, and how long that took by the clock of the loop. */
  private final class Slow extends TimerWheel.Entry {
    private final TimerWheel.Dues whose;
    private final String name;

    Slow(TimerWheel.Dues whose, String name) {
      this.whose = whose;
      this.name = name;
      deadlines.arm(this, loop.now, loop.now);
    }

    @Override
    TimerWheel.Dues dues() {
      return whose;
    }

    @Override
    void due(long nowNanos) {
      expired.add(name);
    }
  }

  @Test
  void processesMassesInSlices() {
    for (int i = 0; i < 5_000; i++) {
      var unused = new Slow(dues, "one of many");
    }
    loop.cost = 10_000;
    long longest = 0;
    loop.advance(2 * TimerWheel.TICK_NANOS);
    int slices = 0;
    for (Runnable next = loop.slice; next != null; next = loop.slice) {
      long began = loop.now;
      loop.slice = null;
      next.run();
      longest = Math.max(longest, loop.now - began);
      slices++;
    }
    assertThat(expired).hasSize(5_000);
    assertThat(slices).isGreaterThan(20);
    assertThat(longest).isLessThan(3 * MILLIS);
    assertThat(deadlines.size()).isZero();
  }

  @Test
  void aClientWithFewDoesNotWaitBehindOneWithMany() {
    long[] paid = new long[1];
    TimerWheel.Dues few = new TimerWheel.Dues(deadlines, nanos -> paid[0] += nanos);
    for (int i = 0; i < 5_000; i++) {
      var unused = new Slow(dues, "one of many");
    }
    var unused = new Slow(few, "few");
    loop.cost = 10_000;
    loop.advance(2 * TimerWheel.TICK_NANOS);
    Runnable next = loop.slice;
    if (next != null) {
      loop.slice = null;
      next.run();
    }
    assertThat(expired).contains("few").hasSizeLessThan(1_000);
    assertThat(paid[0]).as("what its client pays").isBetween(1L, MILLIS);
  }
}
