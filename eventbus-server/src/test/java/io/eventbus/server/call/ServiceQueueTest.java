package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.CallPriority;
import io.eventbus.server.call.CallFixture.FakeCaller;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ServiceQueueTest {
  private long now = 7;
  private final CallFixture kit = new CallFixture(1);
  private final WaitingLoops waiting = new WaitingLoops(3);
  private final ServiceQueue queue = new ServiceQueue(waiting, 2);
  private final FakeCaller a = kit.caller(0, "a");
  private final FakeCaller b = kit.caller(0, "b");
  private final FakeCaller c = kit.caller(0, "c");
  private final LoopService service =
      new LoopService(
          new LocalService(new ServiceKey("", "s"), 1, ServedHere.NOBODY),
          new NameKey(),
          0,
          10,
          new ServiceMember[0],
          0);

  private Call call(FakeCaller caller, long number, CallPriority priority) {
    CallRequest request = new CallRequest();
    request.call = number;
    request.priority = priority;
    Call call = new Call(kit.loops.get(0));
    call.begin(caller.client, service, request, kit.delivery("body"), 0);
    return call;
  }

  private Call add(FakeCaller caller, long number, CallPriority priority) {
    Call call = call(caller, number, priority);
    call.queuedNanos = now;
    queue.add(call, false);
    return call;
  }

  private String order() {
    List<Long> numbers = new ArrayList<>();
    for (@Nullable Call call = queue.poll(now); call != null; call = queue.poll(now)) {
      numbers.add(call.request());
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
    assertThat(queue.poll(now)).extracting(Call::request).isEqualTo(1L);
    add(a, 2, CallPriority.NORMAL);
    assertThat(order()).isEqualTo("10 2 11");
  }

  @Test
  void callsAreRemovedAndAddedFirst() {
    Call first = add(a, 1, CallPriority.NORMAL);
    Call second = add(a, 2, CallPriority.NORMAL);
    Call third = add(a, 3, CallPriority.NORMAL);
    Call only = add(b, 10, CallPriority.NORMAL);
    queue.remove(second);
    queue.remove(only);
    queue.add(call(a, 5, CallPriority.NORMAL), true);
    assertThat(queue.size()).isEqualTo(3);
    assertThat(queue.calls()).contains(first, third).doesNotContain(second, only);
    assertThat(order()).isEqualTo("5 1 3");
  }

  @Test
  void marksItsLoopAsWaiting() {
    assertThat(waiting.any()).isFalse();
    Call call = add(a, 1, CallPriority.LOW);
    assertThat(waiting.next()).isEqualTo(2);
    queue.remove(call);
    assertThat(waiting.any()).isFalse();
    assertThat(waiting.next()).isEqualTo(-1);
  }

  private long waited(FakeCaller caller) {
    return queue.waited(caller.client.group(), CallPriority.NORMAL, now);
  }

  private @Nullable Long nextToShed(FakeCaller caller, long mostNanos) {
    Call call = queue.nextToShed(caller.client.group(), CallPriority.NORMAL, mostNanos, now);
    return call == null ? null : call.request();
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
    assertThat(queue.waited(b.client.group(), CallPriority.HIGH, now)).isZero();
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
