package io.eventbus.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WakeupListTest {
  private final WakeupList waiters = new WakeupList();
  private final List<String> called = new ArrayList<>();

  @Test
  void callsEverybodyOnceInOrder() {
    assertThat(waiters.isEmpty()).isTrue();
    waiters.add(() -> called.add("a"));
    waiters.add(() -> called.add("b"));
    assertThat(waiters.isEmpty()).isFalse();
    waiters.wake();
    assertThat(called).containsExactly("a", "b");
    waiters.wake();
    assertThat(called).containsExactly("a", "b");
    assertThat(waiters.isEmpty()).isTrue();
  }

  @Test
  void aCallbackAddedDuringAWakeWaitsForTheNext() {
    Runnable again =
        new Runnable() {
          @Override
          public void run() {
            called.add("again");
            waiters.add(this);
          }
        };
    waiters.add(again);
    waiters.wake();
    assertThat(called).containsExactly("again");
    assertThat(waiters.isEmpty()).isFalse();
    waiters.wake();
    assertThat(called).containsExactly("again", "again");
  }
}
