package io.eventbus.server.call.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.CallPriority;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ServiceQueueTest {
  private long now = 7;
  private final WaitingLoops waiting = new WaitingLoops(3);
  private final ServiceQueue queue = new ServiceQueue(waiting, 2);
  private final FairnessGroup a = new FairnessGroup("a");
  private final FairnessGroup b = new FairnessGroup("b");
  private final FairnessGroup c = new FairnessGroup("c");

  private FakeCall add(FairnessGroup group, long number, CallPriority priority) {
    FakeCall call = new FakeCall(number, group, priority, now);
    queue.add(call, false);
    return call;
  }

  private static long number(QueuedCall call) {
    return ((FakeCall) call).number;
  }

  private String order() {
    List<Long> numbers = new ArrayList<>();
    for (@Nullable QueuedCall call = queue.poll(now); call != null; call = queue.poll(now)) {
      numbers.add(number(call));
    }
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(" "));
  }

  @Test
  void prioritiesAreServed8To4To1() {
    for (int i = 0; i < 40; i++) {
      add(a, 1, CallPriority.HIGH);
      add(a, 2, CallPriority.NORMAL);
      add(a, 3, CallPriority.LOW);
    }
    assertThat(order().substring(0, 2 * 26))
        .isEqualTo("1 1 1 1 1 1 1 1 2 2 2 2 3 1 1 1 1 1 1 1 1 2 2 2 2 3 ");
  }

  @Test
  void aSingleMemberIsNotSlowedDown() {
    for (int i = 0; i < 5; i++) {
      add(a, 3, CallPriority.LOW);
    }
    add(a, 2, CallPriority.NORMAL);
    assertThat(order()).isEqualTo("2 3 3 3 3 3");
  }

  @Test
  void groupsTakeTurns() {
    for (int i = 1; i <= 4; i++) {
      add(a, i, CallPriority.NORMAL);
    }
    add(b, 10, CallPriority.NORMAL);
    add(b, 11, CallPriority.NORMAL);
    add(c, 20, CallPriority.NORMAL);
    assertThat(order()).isEqualTo("1 10 20 2 11 3 4");
  }

  @Test
  void aReturningGroupIsLast() {
    add(a, 1, CallPriority.NORMAL);
    add(b, 10, CallPriority.NORMAL);
    add(b, 11, CallPriority.NORMAL);
    assertThat(queue.poll(now)).extracting(call -> ((FakeCall) call).number).isEqualTo(1L);
    add(a, 2, CallPriority.NORMAL);
    assertThat(order()).isEqualTo("10 2 11");
  }

  @Test
  void callsAreRemovedAndAddedFirst() {
    FakeCall first = add(a, 1, CallPriority.NORMAL);
    FakeCall second = add(a, 2, CallPriority.NORMAL);
    FakeCall third = add(a, 3, CallPriority.NORMAL);
    FakeCall only = add(b, 10, CallPriority.NORMAL);
    queue.remove(second);
    queue.remove(only);
    queue.add(new FakeCall(5, a, CallPriority.NORMAL, now), true);
    assertThat(queue.size()).isEqualTo(3);
    assertThat(queue.calls()).contains(first, third).doesNotContain(second, only);
    assertThat(order()).isEqualTo("5 1 3");
  }

  @Test
  void marksItsLoopAsWaiting() {
    assertThat(waiting.any()).isFalse();
    FakeCall call = add(a, 1, CallPriority.LOW);
    assertThat(waiting.next()).isEqualTo(2);
    queue.remove(call);
    assertThat(waiting.any()).isFalse();
    assertThat(waiting.next()).isEqualTo(-1);
  }

  private long waited(FairnessGroup group) {
    return queue.waited(group, CallPriority.NORMAL, now);
  }

  private @Nullable Long nextToShed(FairnessGroup group, long mostNanos) {
    QueuedCall call = queue.nextToShed(group, CallPriority.NORMAL, mostNanos, now);
    return call == null ? null : number(call);
  }

  @Test
  void reportsTheWaitingTimeOfOthers() {
    assertThat(waited(a)).isZero();
    for (int i = 0; i < 90; i++) {
      add(a, i, CallPriority.NORMAL);
    }
    now += 10;
    add(b, 100, CallPriority.NORMAL);
    now += 20;
    assertThat(waited(a)).isEqualTo(30);
    // Time since the turn of the group.
    assertThat(waited(b)).isEqualTo(30);
    assertThat(nextToShed(b, 30)).isEqualTo(100L);
    assertThat(nextToShed(c, 30)).as("the turn has come in time").isNull();
    assertThat(nextToShed(c, 29)).isEqualTo(0L);
    assertThat(queue.poll(now)).isNotNull();
    assertThat(queue.poll(now)).isNotNull();
    assertThat(waited(a)).isEqualTo(30);
    // Another group has its turn at once.
    assertThat(waited(b)).isZero();
    assertThat(queue.waited(b, CallPriority.HIGH, now)).isZero();
  }

  @Test
  void loopsAreServedInTurn() {
    WaitingLoops loops = new WaitingLoops(130);
    loops.set(129, true);
    loops.set(3, true);
    loops.set(64, true);
    assertThat(List.of(loops.next(), loops.next(), loops.next(), loops.next()))
        .containsExactly(3, 64, 129, 3);
    loops.set(64, false);
    assertThat(loops.next()).isEqualTo(129);
  }
}
