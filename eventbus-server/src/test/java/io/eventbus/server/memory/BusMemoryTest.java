package io.eventbus.server.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BusMemoryTest {
  private final BusMemory memory = new BusMemory(1000);
  private final AtomicInteger pressure = new AtomicInteger();
  private final AtomicInteger woken = new AtomicInteger();

  @Test
  void refusesALimitOfNothing() {
    assertThatThrownBy(() -> new BusMemory(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("limit: 0 (expected: >= 1)");
  }

  @Test
  void countsAndIsOverOnlyAboveTheLimit() {
    memory.onPressure(pressure::incrementAndGet);
    memory.reserve(1000);
    assertThat(memory.isOver()).isFalse();
    assertThat(pressure).hasValue(0);
    memory.reserve(1);
    assertThat(memory.isOver()).isTrue();
    assertThat(pressure).hasValue(1);
    memory.release(1);
    assertThat(memory.isOver()).isFalse();
    assertThat(memory.used()).isEqualTo(1000);
    assertThat(memory.limit()).isEqualTo(1000);
  }

  @Test
  void wakesOnceSomewhatBelowTheLimit() {
    memory.reserve(1001);
    memory.whenBelow(woken::incrementAndGet);
    memory.release(100);
    assertThat(woken).as("at 901 of 1000").hasValue(0);
    memory.release(26);
    assertThat(woken).as("at 875 of 1000").hasValue(1);
    memory.release(875);
    assertThat(woken).as("only once").hasValue(1);
  }

  @Test
  void wakesAtOnceWhenThereIsRoomAlready() {
    memory.whenBelow(woken::incrementAndGet);
    assertThat(woken).hasValue(1);
  }

  @Test
  void doesNotLetAnyoneWaitForEverJustBelowTheLimit() {
    memory.reserve(1001);
    memory.whenBelow(woken::incrementAndGet);
    memory.wakeIfBelow();
    assertThat(woken).as("over the limit").hasValue(0);
    memory.release(1);
    assertThat(woken).hasValue(0);
    memory.wakeIfBelow();
    assertThat(woken).hasValue(1);
  }

  @Test
  void queuesShareHalfOfTheLimit() {
    BusMemory large = new BusMemory(1 << 20);
    assertThat(large.queueBound(100_000)).as("plenty of room").isEqualTo(100_000);
    large.reserve(400_000);
    assertThat(large.queueBound(100_000)).isEqualTo(((1 << 19) - 400_000) / 4);
    large.reserve(200_000);
    assertThat(large.queueBound(100_000)).as("more than half").isEqualTo(4_096);
    assertThat(large.queueBound(1_000)).as("a bound of its own").isEqualTo(1_000);
  }

  @Test
  void manyQueuesThatAreNotReadNeverFillTheMemory() {
    BusMemory large = new BusMemory(64 << 20);
    long[] queues = new long[3_500];
    for (int round = 0; round < 100; round++) {
      for (int i = 0; i < queues.length; i++) {
        long more = Math.min(1_000, Math.max(0, large.queueBound(8 << 20) - queues[i]));
        queues[i] += more;
        large.reserve(more);
      }
    }
    assertThat(large.used()).isBetween(30L << 20, 40L << 20);
  }

  @Test
  void callsTakeNoRoomOfQueues() {
    BusMemory large = new BusMemory(1 << 20);
    large.services().change(300_000);
    assertThat(large.used()).isEqualTo(300_000);
    assertThat(large.queueBound(100_000)).isEqualTo(100_000);
  }
}
