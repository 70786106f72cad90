package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairTurnsTest {
  private final FairTurns turns = new FairTurns();
  private final List<String> taken = new ArrayList<>();

  private void add(String address, String name) {
    turns.add(address, () -> taken.add(name));
  }

  private void take() {
    Runnable next = turns.poll();
    if (next == null) {
      throw new AssertionError("nothing waits");
    }
    next.run();
  }

  private List<String> takeAll() {
    while (!turns.isEmpty()) {
      take();
    }
    return taken;
  }

  @Test
  void tasksOfAnAddressAreInOrder() {
    add("a", "a1");
    add("a", "a2");
    assertThat(turns.size()).isEqualTo(2);
    assertThat(takeAll()).containsExactly("a1", "a2");
    assertThat(turns.poll()).isNull();
  }

  @Test
  void aCrowdOfOneAddressDelaysAnotherByOneTurn() {
    for (int i = 0; i < 5; i++) {
      add("crowd", "c" + i);
    }
    add("other", "o1");
    add("other", "o2");
    assertThat(takeAll()).containsExactly("c0", "o1", "c1", "o2", "c2", "c3", "c4");
  }

  @Test
  void aTaskThatWaitsAgainComesAfterOtherAddresses() {
    turns.add(
        "crowd",
        () -> {
          taken.add("c1");
          add("crowd", "c2");
        });
    take();
    add("other", "o1");
    add("crowd", "c3");
    assertThat(takeAll()).containsExactly("c1", "c2", "o1", "c3");
  }

  @Test
  void discardedTasksAreNotTaken() {
    add("a", "a1");
    turns.clear();
    assertThat(turns.isEmpty()).isTrue();
    add("a", "a2");
    assertThat(takeAll()).containsExactly("a2");
  }
}
