package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallHandOverQueueTest {
  private final CallFixture kit = new CallFixture(2);
  private final List<Runnable> tasks = new ArrayList<>();
  private boolean fails;
  private final CallHandOverQueue queue =
      new CallHandOverQueue(
          kit.loops.get(1),
          task -> {
            if (fails) {
              throw new IllegalStateException("no room for the task");
            }
            tasks.add(task);
          });

  private void add() {
    queue.add(CallHandOverQueue.Kind.REPLY).body = kit.delivery("body");
  }

  @Test
  void keepsAFailedBatchForTheNextFlush() {
    add();
    fails = true;
    assertThatExceptionOfType(IllegalStateException.class).isThrownBy(queue::flush);
    fails = false;
    add();
    queue.flush();
    assertThat(tasks).hasSize(1);
    assertThat(kit.memory.used()).isPositive();
    tasks.get(0).run();
    assertThat(kit.memory.used()).as("both bodies are given back").isZero();
  }

  @Test
  void anErrorInANoteDoesNotAffectOthers() {
    for (int i = 0; i < 200; i++) {
      add();
    }
    assertThat(queue.isBehind()).isTrue();
    queue.flush();
    assertThat(queue.isBehind()).isTrue();
    // Each fails with an AssertionError, because this is not the loop.
    tasks.get(0).run();
    assertThat(kit.memory.used()).isZero();
    assertThat(queue.isBehind()).isFalse();
  }

  @Test
  void notifiesOncePerBatch() {
    Object subject = new Object();
    assertThat(queue.isFirst(subject)).isTrue();
    add();
    assertThat(queue.isFirst(subject)).isFalse();
    queue.flush();
    assertThat(queue.isFirst(subject)).isTrue();
    tasks.forEach(Runnable::run);
    assertThat(kit.memory.used()).isZero();
  }
}
