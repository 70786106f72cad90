package io.eventbus.server.call;

import static io.eventbus.server.call.CallFixture.MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.call.CallFixture.FakeCaller;
import io.eventbus.server.call.CallFixture.FakeMember;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Closing of connections with a great many calls: the loop does other work in between. */
class ClosingTest {
  private final CallFixture kit = new CallFixture(2);

  @AfterEach
  void assertNoLeaks() {
    kit.cost = 0;
    kit.advance(700_000 * MILLIS);
    kit.members.values().forEach(m -> m.close(Long.MAX_VALUE));
    kit.advance(MILLIS);
    assertThat(kit.sum(s -> s.queued.get())).as("queued").isZero();
    assertThat(kit.sum(s -> s.inFlight.get())).as("in flight").isZero();
    assertThat(kit.bus.queuedBytes()).as("bytes queued").isZero();
    assertThat(kit.memory.used()).as("bytes held").isZero();
    assertThat(kit.hasTimers()).as("timers").isFalse();
    kit.loops.forEach(loop -> assertThat(loop.services().size()).as("services").isZero());
    kit.loops.forEach(loop -> assertThat(loop.slices().isEmpty()).as("work").isTrue());
  }

  private FakeCaller callerThatWaits(int calls) {
    FakeCaller caller = kit.caller(0);
    for (int i = 0; i < calls; i++) {
      caller.call(r -> r.waitMillis = 600_000);
    }
    return caller;
  }

  /** Closes connections in one task of loop 0; returns the duration. */
  private long closeAll(List<Runnable> closings) {
    kit.cost = 10_000;
    long began = kit.now;
    kit.on(0, () -> closings.forEach(Runnable::run));
    return kit.now - began;
  }

  @Test
  void endsCallsOfAClosedCallerInSlices() {
    FakeCaller caller = callerThatWaits(2_000);
    assertThat(closeAll(List.of(caller.client::close))).isLessThan(3 * MILLIS);
    assertThat(kit.sum(s -> s.queued.get())).isBetween(1_000L, 1_999L);
    kit.advance(100 * MILLIS);
    assertThat(kit.sum(s -> s.queued.get())).isZero();
    assertThat(kit.sum(s -> s.inFlight.get())).isZero();
    assertThat(caller.outcomes).isEmpty();
  }

  @Test
  void allThatGoTogetherShareOneSlice() {
    List<Runnable> closings = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      closings.add(callerThatWaits(200).client::close);
    }
    assertThat(closeAll(closings)).isLessThan(4 * MILLIS);
    kit.advance(200 * MILLIS);
    assertThat(kit.sum(s -> s.inFlight.get())).isZero();
  }

  @Test
  void aConnectionWithFewDoesNotWaitBehindOneWithMany() {
    FakeCaller many = callerThatWaits(4_000);
    FakeCaller few = callerThatWaits(1);
    assertThat(closeAll(List.of(many.client::close, few.client::close))).isLessThan(3 * MILLIS);
    kit.advance(3 * MILLIS);
    assertThat(few.client.inFlight()).isZero();
    assertThat(many.client.inFlight()).isGreaterThan(3_000);
  }

  @Test
  void noMemberGetsACallOfACallerThatHasGone() {
    FakeCaller gone = callerThatWaits(1_000);
    FakeCaller stays = callerThatWaits(1);
    kit.cost = 10_000;
    kit.on(0, gone.client::close);
    assertThat(kit.sum(s -> s.queued.get())).isGreaterThan(500);
    FakeMember member = kit.member(0, 9, 4);
    kit.advance(50 * MILLIS);
    assertThat(member.invocations).hasSize(1);
    assertThat(member.invocations.get(0).caller()).isEqualTo(stays.info.producer());
    member.reply();
    assertThat(stays.outcomes).hasSize(1);
    assertThat(member.window().outstanding()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void anAnswerForACallerThatHasGoneGivesThePlaceBackAndTellsNobody(int loop) {
    List<FakeMember> members = new ArrayList<>();
    FakeCaller caller = kit.caller(0);
    for (int i = 1; i <= 100; i++) {
      members.add(kit.member(loop, i, 4));
    }
    for (int i = 0; i < 400; i++) {
      caller.call(r -> r.idempotent = true);
    }
    assertThat(members).allMatch(m -> m.given.size() == 4);
    kit.cost = 10_000;
    kit.slow(true);
    kit.on(0, caller.client::close);
    members.forEach(FakeMember::reply);
    // The calls of this member go nowhere.
    members.get(7).close(0);
    members.remove(7);
    kit.slow(false);
    kit.drain();
    kit.advance(50 * MILLIS);
    assertThat(caller.outcomes).isEmpty();
    members.forEach(m -> assertThat(m.given).hasSize(3));
    members.forEach(
        m -> {
          while (!m.given.isEmpty()) {
            m.reply();
          }
        });
    members.forEach(m -> assertThat(m.window().outstanding()).isZero());
    assertThat(caller.client.inFlight()).isZero();
  }

  @Test
  void endsCallsOfClosedMembersInSlicesWithoutNewCalls() {
    FakeCaller caller = kit.caller(0);
    List<Runnable> closings = new ArrayList<>();
    List<FakeMember> members = new ArrayList<>();
    for (int i = 1; i <= 100; i++) {
      FakeMember member = kit.member(0, i, 4);
      members.add(member);
      closings.add(() -> member.client.close(Long.MAX_VALUE));
    }
    for (int i = 0; i < 400; i++) {
      caller.call();
    }
    assertThat(closeAll(closings)).isLessThan(4 * MILLIS);
    assertThat(caller.outcomes).hasSizeLessThan(300);
    long late = caller.call();
    kit.advance(50 * MILLIS);
    assertThat(caller.outcome(late)).isEqualTo("NO_MEMBER NO");
    assertThat(caller.outcomes.values()).filteredOn("MEMBER_LOST UNKNOWN"::equals).hasSize(400);
    assertThat(members).allMatch(m -> m.invoked == 4 && m.cancelled.isEmpty());
    assertThat(kit.bus.serviceCount()).isZero();
  }

  @Test
  void aLoopThatEndsDoesAllThatIsLeft() {
    FakeCaller caller = callerThatWaits(2_000);
    assertThat(closeAll(List.of(caller.client::close))).isLessThan(3 * MILLIS);
    kit.on(0, () -> kit.loops.get(0).finish());
    assertThat(kit.sum(s -> s.inFlight.get())).isZero();
    assertThat(kit.memory.used()).isZero();
  }

  @Test
  void callsThatWaitForAMemberAreLookedAtInSlicesWhenTheLastOneGoes() {
    FakeMember member = kit.member(1, 9, 1);
    FakeCaller caller = kit.caller(0);
    for (int i = 0; i < 2_000; i++) {
      caller.call(r -> r.waitMillis = i(r) % 2 == 0 ? 0 : 60_000);
    }
    kit.slow(true);
    kit.cost = 10_000;
    for (int i = 0; i < 100; i++) {
      member.capacity(i % 2);
      member.capacity(0);
    }
    while (kit.step(1)) {
      assertThat(caller.outcomes).isEmpty();
    }
    long began = kit.now;
    assertThat(kit.step(0)).isTrue();
    assertThat(kit.now - began).isLessThan(4 * MILLIS);
    assertThat(kit.step(0)).as("told again in the same round").isFalse();
    kit.slow(false);
    kit.advance(100 * MILLIS);
    assertThat(caller.outcomes).isNotEmpty();
    assertThat(caller.outcomes.values()).containsOnly("NO_MEMBER NO");
    assertThat(kit.sum(s -> s.queued.get())).isBetween(900L, 1_000L);
    kit.cost = 0;
    kit.advance(60_000 * MILLIS);
    assertThat(kit.sum(s -> s.queued.get())).isZero();
    member.given.clear();
    member.close(Long.MAX_VALUE);
    assertThat(caller.outcomes).hasSize(2_000);
  }

  private static long i(CallRequest request) {
    return request.call;
  }

  @Test
  void callsForOneMemberFailInSlicesWhenItTakesNoneAnyMoreAndGoOnWhenItDoes() {
    FakeMember member = kit.member(0, 9, 1);
    FakeCaller caller = kit.caller(0);
    for (int i = 0; i < 2_001; i++) {
      caller.call(r -> r.member = 9);
    }
    kit.cost = 10_000;
    kit.slow(true);
    long began = kit.now;
    member.capacity(0);
    assertThat(kit.now - began).isLessThan(4 * MILLIS);
    int failed = caller.outcomes.size();
    assertThat(failed).isBetween(10, 1_000);
    member.capacity(1);
    kit.slow(false);
    kit.advance(100 * MILLIS);
    assertThat(caller.outcomes).hasSize(failed);
    kit.cost = 0;
    while (!member.given.isEmpty()) {
      member.reply();
    }
    assertThat(caller.outcomes).hasSize(2_001);
  }
}
