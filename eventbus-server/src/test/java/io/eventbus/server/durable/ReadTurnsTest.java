package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Turns of readers. */
class ReadTurnsTest {
  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final ReadTurns turns = new ReadTurns((task, millis) -> threads.add(task), 2);
  private final List<String> ran = new ArrayList<>();

  private void add(String address, String name) {
    turns.add(address, () -> ran.add(name));
  }

  @Test
  void eachAddressHasItsTurn() {
    add("a", "a1");
    add("a", "a2");
    add("a", "a3");
    add("b", "b1");
    add("b", "b2");
    assertThat(threads).as("no more at the same time").hasSize(2);
    threads.remove().run();
    assertThat(ran).containsExactly("a1", "b1", "a2", "b2", "a3");
    threads.remove().run();
    assertThat(ran).hasSize(5);
  }

  @Test
  void anErrorEndsNoThread() {
    turns.add(
        "a",
        () -> {
          throw new AssertionError("as if the heap ended");
        });
    add("a", "a2");
    Runnable first = threads.remove();
    assertThatThrownBy(first::run).isInstanceOf(AssertionError.class);
    threads.remove().run();
    threads.remove().run();
    assertThat(ran).containsExactly("a2");
    add("a", "a3");
    add("b", "b1");
    assertThat(threads).hasSize(2);
  }

  @Test
  void aReaderThatFailsKeepsNoOtherFromItsTurn() {
    turns.add(
        "a",
        () -> {
          throw new IllegalStateException("as if the disk failed");
        });
    add("a", "a2");
    threads.remove().run();
    threads.remove().run();
    assertThat(ran).containsExactly("a2");
    add("a", "a3");
    threads.remove().run();
    assertThat(ran).containsExactly("a2", "a3");
  }
}
