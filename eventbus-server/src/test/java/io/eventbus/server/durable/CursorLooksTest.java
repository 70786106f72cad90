package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CursorLooksTest {
  private final Queue<Runnable> timers = new ArrayDeque<>();
  private long millis;
  private final CursorLooks looks =
      new CursorLooks(
          new ReadTurns((task, delay) -> task.run(), 1),
          (task, delay) -> {
            assertThat(delay).isEqualTo(CursorLooks.TICK_MILLIS);
            timers.add(task);
          },
          () -> millis * 1_000_000);
  private final List<Integer> looked = new ArrayList<>();

  private void tick() {
    millis += CursorLooks.TICK_MILLIS;
    assertThat(timers).as("timers").hasSize(1);
    Objects.requireNonNull(timers.poll()).run();
  }

  @Test
  void aLookWaitsForItsTime() {
    looks.later(this, () -> looked.add(1));
    millis += 250;
    looks.later(this, () -> looked.add(2));
    tick();
    assertThat(looked).isEmpty();
    tick();
    tick();
    assertThat(looked).containsExactly(1);
    tick();
    tick();
    assertThat(looked).containsExactly(1, 2);
    assertThat(timers).as("no timer for nobody").isEmpty();
    looks.later(this, () -> looked.add(3));
    IntStream.range(0, 5).forEach(i -> tick());
    assertThat(looked).containsExactly(1, 2, 3);
  }

  @Test
  void oneTimerBeginsABoundedNumberOfLooksAtATime() {
    int count = 2 * CursorLooks.MAX_LOOKS + 5;
    for (int i = 0; i < count; i++) {
      int number = i;
      looks.later(this, () -> looked.add(number));
    }
    millis += CursorLooks.WAIT_MILLIS;
    tick();
    assertThat(looked).hasSize(CursorLooks.MAX_LOOKS);
    tick();
    tick();
    assertThat(looked).containsExactlyElementsOf(IntStream.range(0, count).boxed().toList());
    assertThat(timers).isEmpty();
  }
}
