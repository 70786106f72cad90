package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InflateQueueTest {
  private final class Message implements Runnable {
    private final String name;

    Message(String name) {
      this.name = name;
    }

    @Override
    public void run() {
      called.add(name);
    }
  }

  private record Timer(Runnable task, long nanos) {}

  private final List<Timer> timers = new ArrayList<>();
  private final List<String> called = new ArrayList<>();
  private final InflateQueue line =
      new InflateQueue((task, nanos) -> timers.add(new Timer(task, nanos)));
  private final Runnable a = new Message("a");
  private final Runnable b = new Message("b");
  private final Runnable c = new Message("c");

  private void fire(long nanos) {
    assertThat(timers).hasSize(1);
    Timer timer = timers.remove(0);
    assertThat(timer.nanos()).isEqualTo(nanos);
    timer.task().run();
  }

  @Test
  void eachLeavesTwiceItsTimeToOthersAndTheyComeInOrder() {
    assertThat(line.mayBegin(a, 1_000)).isTrue();
    line.took(100, 1_100);
    assertThat(line.mayBegin(b, 1_100)).isFalse();
    assertThat(line.mayBegin(c, 1_150)).isFalse();
    assertThat(line.mayBegin(b, 1_150)).as("asks twice").isFalse();
    fire(200);
    assertThat(called).containsExactly("b");
    assertThat(line.mayBegin(a, 1_300)).as("behind those that wait").isFalse();
    assertThat(line.mayBegin(c, 1_300)).isFalse();
    assertThat(line.mayBegin(b, 1_300)).isTrue();
    line.took(1_000, 2_300);
    timers.remove(0);
    // Woken too early, it asks again.
    assertThat(line.mayBegin(c, 4_299)).isFalse();
    assertThat(line.mayBegin(c, 4_300)).isTrue();
    line.took(0, 4_300);
    assertThat(line.mayBegin(a, 4_300)).isTrue();
  }

  @Test
  void aLeavingClientMakesRoomForTheNext() {
    assertThat(line.mayBegin(a, 1_000)).isTrue();
    line.took(100, 1_100);
    assertThat(line.mayBegin(b, 1_100)).isFalse();
    assertThat(line.mayBegin(c, 1_100)).isFalse();
    fire(200);
    assertThat(called).containsExactly("b");
    line.leave(b, 1_400);
    fire(0);
    assertThat(called).containsExactly("b", "c");
    line.leave(b, 1_400);
    assertThat(timers).isEmpty();
    assertThat(line.mayBegin(c, 1_400)).isTrue();
  }
}
