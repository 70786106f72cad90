package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallHandOverTest {
  private final CallFixture kit = new CallFixture(2);
  private final List<Runnable> tasks = new ArrayList<>();
  private final CallHandOver queue = new CallHandOver(kit.loops.get(1), tasks::add);

  private void add() {
    queue.add(CallNote.Kind.REPLY).body = kit.delivery("body");
  }

  @Test
  void anErrorInANoteDoesNotAffectOthers() {
    for (int i = 0; i < 200; i++) {
      add();
    }
    assertThat(queue.isFull()).isTrue();
    queue.flush();
    assertThat(queue.isFull()).isTrue();
    // Each fails with an AssertionError, because this is not the loop.
    tasks.get(0).run();
    assertThat(kit.memory.used()).isZero();
    assertThat(queue.isFull()).isFalse();
  }

  @Test
  void aTaskHasABoundInNotes() {
    for (int i = 0; i < 512; i++) {
      queue.add(CallNote.Kind.RESUME);
    }
    assertThat(tasks).as("the last note may not be filled in yet").isEmpty();
    queue.add(CallNote.Kind.RESUME);
    assertThat(tasks).hasSize(1);
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
