package io.eventbus.server.call;

import static io.eventbus.server.call.CallFixture.MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallFixture.FakeCaller;
import io.eventbus.server.call.CallFixture.FakeMember;
import io.eventbus.server.call.dispatch.FairnessGroup;
import io.eventbus.server.call.dispatch.MemberWindow;
import io.eventbus.server.stats.RetryReason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls from start to each of their ends, on one loop and on two. */
class CallsTest {
  private CallFixture kit = new CallFixture(2);

  @AfterEach
  void assertNoLeaks() {
    kit.advance(601_000 * MILLIS);
    assertThat(kit.sum(s -> s.queued.get())).as("queued").isZero();
    assertThat(kit.bus.queuedBytes()).as("bytes queued").isZero();
    kit.members.values().forEach(m -> m.close(Long.MAX_VALUE));
    assertThat(kit.sum(s -> s.inFlight.get())).as("in flight").isZero();
    assertThat(kit.memory.used()).as("bytes held").isZero();
    assertThat(kit.hasTimers()).as("timers").isFalse();
    assertThat(kit.bus.serviceCount()).isZero();
    kit.loops.forEach(loop -> assertThat(loop.services().size()).as("services").isZero());
  }

  private FakeCaller caller() {
    return kit.caller(0);
  }

  /** Creates a member with a window of one, or of the given concurrency. */
  private FakeMember member(int loop, long number) {
    return kit.member(loop, number, 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aReplyGoesToTheCaller(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    long call = caller.call(r -> r.timeoutMillis = 50);
    assertThat(member.given.get(0).timeoutMillis()).isEqualTo(50);
    assertThat(member.given.get(0).request()).isEqualTo(call);
    kit.advance(3 * MILLIS);
    assertThat(member.member().unanswered()).isEqualTo(1);
    assertThat(member.reply()).isTrue();
    assertThat(caller.outcome(call)).isEqualTo("reply done of 9 after 0");
    assertThat(caller.client.inFlight()).isZero();
    assertThat(member.member().unanswered()).isZero();
    assertThat(member.window().outstanding()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void chargesTheSenderForWorkOfAnotherLoop(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    caller.call();
    assertThat(caller.chargedNanos > 0).isEqualTo(loop == 1);
    assertThat(member.chargedNanos).isZero();
    member.reply();
    assertThat(member.chargedNanos > 0).isEqualTo(loop == 1);
  }

  @Test
  void aCallThatNobodyServesFailsAtOnce() {
    FakeCaller caller = caller();
    assertThat(caller.outcome(caller.call())).isEqualTo("NO_MEMBER NO");
    kit.member(1, 9, 0);
    assertThat(caller.outcome(caller.call())).isEqualTo("NO_MEMBER NO");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aCallMayWaitForAMember(int loop) {
    FakeCaller caller = caller();
    long call = caller.call(r -> r.waitMillis = 100);
    long late = caller.call(r -> r.waitMillis = 20);
    long none = caller.call();
    assertThat(caller.outcome(none)).isEqualTo("NO_MEMBER NO");
    kit.advance(50 * MILLIS);
    assertThat(caller.outcome(late)).isEqualTo("NO_MEMBER NO");
    FakeMember member = member(loop, 9);
    member.reply();
    assertThat(caller.outcome(call)).isEqualTo("reply done of 9 after 50000");
  }

  @Test
  void aCallThatWaitedForAMemberHasAllItsTimeThen() {
    FakeCaller caller = caller();
    FakeMember other = member(1, 8);
    long first = caller.call();
    long call = caller.call(r -> r.waitMillis = 20);
    other.capacity(0);
    kit.advance(5 * MILLIS);
    other.capacity(1);
    kit.advance(100 * MILLIS);
    assertThat(caller.outcome(call)).isNull();
    other.reply();
    assertThat(caller.outcome(first)).startsWith("reply");
    other.reply();
    assertThat(caller.outcome(call)).startsWith("reply");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void theLastLeaveFailsWaitingCalls(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    long given = caller.call();
    long queued = caller.call();
    long waits = caller.call(r -> r.waitMillis = 30);
    member.unregister();
    assertThat(caller.outcome(queued)).isEqualTo("NO_MEMBER NO");
    assertThat(caller.outcome(waits)).isNull();
    member.reply();
    assertThat(caller.outcome(given)).startsWith("reply");
    kit.advance(45 * MILLIS);
    assertThat(caller.outcome(waits)).isEqualTo("NO_MEMBER NO");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aDeadlineEndsACallThatWaits(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    caller.call();
    long call = caller.call(r -> r.timeoutMillis = 20);
    kit.advance(19 * MILLIS);
    assertThat(caller.outcome(call)).isNull();
    kit.advance(12 * MILLIS);
    assertThat(caller.outcome(call)).isEqualTo("TIMEOUT NO");
    assertThat(kit.sum(s -> s.expired.get())).isEqualTo(1);
    member.reply();
    assertThat(member.given).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aCallThatTimesOutAtItsMemberKeepsItsPlaceUntilTheAnswer(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    long call = caller.call(r -> r.timeoutMillis = 20);
    long next = caller.call();
    kit.advance(31 * MILLIS);
    assertThat(caller.outcome(call)).isEqualTo("TIMEOUT UNKNOWN");
    assertThat(member.cancelled.values()).containsExactly(FailureMessages.TIME_IS_OVER);
    assertThat(caller.client.inFlight()).isEqualTo(2);
    assertThat(member.given).hasSize(1);
    assertThat(member.reply()).isTrue();
    assertThat(caller.client.inFlight()).isEqualTo(1);
    member.reply();
    assertThat(caller.outcome(next)).startsWith("reply");
  }

  @Test
  void aCallIsNotGivenToAMemberAfterItsTime() {
    FakeMember member = member(1, 9);
    FakeCaller caller = caller();
    kit.slow(true);
    long call = caller.call(r -> r.timeoutMillis = 5);
    // The note has not reached the other loop yet.
    kit.now += 6 * MILLIS;
    kit.slow(false);
    kit.drain();
    assertThat(member.given).isEmpty();
    assertThat(caller.outcome(call)).isEqualTo("TIMEOUT NO");
    assertThat(member.window().outstanding()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aRefusedCallTriesThreeOthersAtMost(int loop) {
    FakeCaller caller = caller();
    for (int i = 1; i <= 5; i++) {
      FakeMember member = member(loop, i);
      member.onInvoke(
          g -> kit.schedule(loop, 0, () -> member.fail(FailureCode.REFUSED, Execution.NO)));
    }
    long call = caller.call();
    kit.advance(MILLIS);
    assertThat(caller.outcome(call)).startsWith("REFUSED NO of ").endsWith(": why");
    assertThat(caller.retryAfter).isEqualTo(3);
    assertThat(kit.members.values().stream().mapToLong(m -> m.invoked).max()).hasValue(1);
    assertThat(kit.members.values().stream().mapToLong(m -> m.invoked).sum()).isEqualTo(4);
    assertThat(kit.sum(s -> s.retries(RetryReason.REFUSED).get())).isEqualTo(3);
  }

  @Test
  void aRefusalOfTheOnlyMemberGoesToTheCaller() {
    FakeMember member = member(0, 9);
    FakeCaller caller = caller();
    long call = caller.call();
    member.fail(FailureCode.OVERLOADED, Execution.NO);
    assertThat(caller.outcome(call)).isEqualTo("OVERLOADED NO of 9: why");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void doesNotRepeatAStartedCall(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    long call = caller.call(r -> r.idempotent = true);
    FakeMember other = member(0, 8);
    member.fail(FailureCode.OVERLOADED, Execution.YES);
    assertThat(caller.outcome(call)).isEqualTo("OVERLOADED YES of 9: why");
    long failed = caller.call(r -> r.member = 9);
    member.fail(FailureCode.FAILED, Execution.YES);
    assertThat(caller.outcome(failed)).isEqualTo("FAILED YES of 9: why");
    assertThat(other.invoked).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void redispatchesUnwrittenCalls(int loop) {
    FakeMember member = kit.member(loop, 9, 2);
    FakeCaller caller = caller();
    long written = caller.call();
    long unwritten = caller.call();
    FakeMember other = member(1, 8);
    member.close(1);
    assertThat(caller.outcome(written)).isEqualTo("MEMBER_LOST UNKNOWN");
    assertThat(other.given).hasSize(1);
    assertThat(other.given.get(0).attempt()).isZero();
    other.reply();
    assertThat(caller.outcome(unwritten)).startsWith("reply done of 8");
    assertThat(kit.sum(s -> s.retries(RetryReason.UNWRITTEN).get())).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void anIdempotentCallIsRepeatedTwice(int loop) {
    FakeCaller caller = caller();
    FakeMember first = member(loop, 1);
    long call =
        caller.call(
            r -> {
              r.idempotent = true;
              r.attempt = 4;
            });
    FakeMember second = member(loop, 2);
    first.close(Long.MAX_VALUE);
    assertThat(second.given.get(0).attempt()).isEqualTo(5);
    FakeMember third = member(0, 3);
    second.close(1);
    assertThat(third.given.get(0).attempt()).isEqualTo(6);
    FakeMember fourth = member(0, 4);
    third.close(1);
    assertThat(caller.outcome(call)).isEqualTo("MEMBER_LOST UNKNOWN");
    assertThat(fourth.invoked).isZero();
  }

  @Test
  void neverReportsAPerhapsExecutedCallAsNotExecuted() {
    FakeCaller caller = caller();
    FakeMember first = member(0, 1);
    long refused = caller.call(r -> r.idempotent = true);
    FakeMember second = member(0, 2);
    first.close(1);
    second.fail(FailureCode.REFUSED, Execution.NO);
    assertThat(caller.outcome(refused)).isEqualTo("REFUSED UNKNOWN of 2: why");
    long call = caller.call(r -> r.idempotent = true);
    FakeMember busy = member(0, 3);
    busy.window().tryAcquire();
    second.close(Long.MAX_VALUE);
    assertThat(caller.outcome(call)).isNull();
    caller.cancel(call);
    assertThat(caller.outcome(call)).isEqualTo("CANCELLED UNKNOWN");
    busy.window().release();
  }

  @Test
  void repetitionsHaveABudget() {
    FakeCaller caller = caller();
    FakeMember first = kit.member(0, 1, 200);
    for (int i = 0; i < 200; i++) {
      kit.advance(2_000 * MILLIS);
      caller.call();
      first.reply();
    }
    for (int i = 0; i < 150; i++) {
      caller.call(r -> r.idempotent = true);
    }
    FakeMember second = kit.member(0, 2, 300);
    first.close(Long.MAX_VALUE);
    long repeated = kit.sum(s -> s.retries(RetryReason.LOST).get());
    // The reserve of 100, and a tenth of the requests.
    assertThat(repeated).isBetween(115L, 116L);
    assertThat(kit.sum(s -> s.failures(FailureCode.MEMBER_LOST).get())).isEqualTo(150 - repeated);
    assertThat(second.invoked).isEqualTo(MemberWindow.MAX_FIRST);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void cancellingEndsACallAtOnce(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    long given = caller.call();
    long queued = caller.call();
    caller.cancel(queued);
    assertThat(caller.outcome(queued)).isEqualTo("CANCELLED NO");
    caller.cancel(given);
    assertThat(caller.outcome(given)).isEqualTo("CANCELLED UNKNOWN");
    assertThat(member.cancelled.values()).containsExactly("no longer");
    assertThat(caller.client.inFlight()).isEqualTo(1);
    caller.cancel(given);
    caller.cancel(12_345);
    long next = caller.call();
    assertThat(member.given).hasSize(1);
    member.reply();
    assertThat(caller.client.inFlight()).isEqualTo(1);
    member.reply();
    assertThat(caller.outcome(next)).startsWith("reply");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aCallerThatGoesHearsNothingMore(int loop) {
    FakeMember member = member(loop, 9);
    FakeCaller caller = caller();
    caller.call();
    caller.call();
    caller.close();
    assertThat(caller.outcomes).isEmpty();
    assertThat(member.cancelled.values()).containsExactly(FailureMessages.CALLER_GONE);
    assertThat(kit.sum(s -> s.inFlight.get())).isZero();
    FakeCaller other = caller();
    long call = other.call();
    member.reply();
    assertThat(caller.outcomes).isEmpty();
    member.reply();
    assertThat(other.outcome(call)).startsWith("reply");
    caller.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aPinnedCallHasOneMemberOnly(int loop) {
    FakeMember one = member(loop, 1);
    FakeMember other = member(loop, 2);
    FakeCaller caller = caller();
    long first = caller.call(r -> r.member = 2);
    long second = caller.call(r -> r.member = 2);
    long third = caller.call(r -> r.member = 2);
    assertThat(caller.outcome(caller.call(r -> r.member = 3))).isEqualTo("NO_MEMBER NO");
    assertThat(one.invoked).isZero();
    assertThat(other.invoked).isEqualTo(1);
    other.reply();
    assertThat(caller.outcome(first)).startsWith("reply done of 2");
    other.reply();
    assertThat(caller.outcome(second)).startsWith("reply done of 2");
    long fourth = caller.call(r -> r.member = 2);
    other.close(Long.MAX_VALUE);
    assertThat(caller.outcome(third)).isEqualTo("MEMBER_LOST UNKNOWN");
    assertThat(caller.outcome(fourth)).isEqualTo("NO_MEMBER NO");
    assertThat(one.invoked).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void pinnedAndOtherCallsTakeTurns(int loop) {
    FakeMember member = member(loop, 1);
    FakeCaller caller = caller();
    caller.call();
    for (int i = 0; i < 4; i++) {
      caller.call(r -> r.member = 1);
    }
    for (int i = 0; i < 4; i++) {
      caller.call();
    }
    for (int i = 0; i < 5; i++) {
      member.reply();
    }
    // 1 was first; then two of 2 to 5, which are pinned, and two of 6 to 9.
    assertThat(caller.outcomes.keySet()).containsExactlyInAnyOrder(1L, 2L, 3L, 6L, 7L);
    for (int i = 0; i < 4; i++) {
      member.reply();
    }
  }

  @Test
  void aConnectionHasABoundOfCalls() {
    CallSettings s = CallFixture.SETTINGS;
    kit =
        new CallFixture(
            2,
            new CallSettings(
                2,
                s.timeoutNanos(),
                s.maxTimeoutNanos(),
                s.maxWaitNanos(),
                2,
                10,
                s.queueRequests(),
                s.queueBytes(),
                10_000));
    FakeMember member = member(1, 9);
    FakeCaller caller = caller();
    long first = caller.call();
    long second = caller.call();
    assertThat(caller.outcome(caller.call())).isEqualTo("OVERLOADED NO");
    caller.cancel(first);
    assertThat(caller.outcome(caller.call())).isEqualTo("OVERLOADED NO");
    member.reply();
    long fifth = caller.call();
    assertThat(caller.outcome(fifth)).isNull();
    caller.cancel(second);
    caller.cancel(fifth);
  }

  @Test
  void aNumberThatIsInUseIsRefused() {
    FakeMember member = member(0, 9);
    FakeCaller caller = caller();
    caller.call();
    caller.request.call = 1;
    assertThat(caller.client.begin(caller.request)).isFalse();
    member.reply();
    assertThat(caller.outcomes).hasSize(1);
  }

  @Test
  void aFloodingGroupUsesHalfOfTheRoomAndTheNextFindsSome() {
    CallSettings s = CallFixture.SETTINGS;
    kit =
        new CallFixture(
            2,
            new CallSettings(
                4_096,
                s.timeoutNanos(),
                s.maxTimeoutNanos(),
                s.maxWaitNanos(),
                2,
                10,
                100,
                1L << 20,
                10_000));
    FakeMember member = member(1, 9);
    FakeCaller flood = kit.caller(0, "a");
    FakeCaller more = kit.caller(0, "a");
    FakeCaller other = kit.caller(0, "b");
    flood.call();
    for (int i = 0; i < 40; i++) {
      flood.call();
      more.call();
    }
    assertThat(kit.sum(x -> x.queued.get())).isEqualTo(50);
    assertThat(kit.sum(x -> x.shed(CallPriority.NORMAL).get())).isEqualTo(30);
    assertThat(flood.outcomes.values()).containsOnly("OVERLOADED NO");
    long call = other.call();
    assertThat(other.outcome(call)).isNull();
    // Groups take turns, so a reply of the flood comes first.
    member.reply();
    member.reply();
    member.reply();
    assertThat(other.outcome(call)).startsWith("reply");
    member.close(0);
  }

  @Test
  void bytesThatWaitAreBounded() {
    CallSettings s = CallFixture.SETTINGS;
    kit =
        new CallFixture(
            1,
            new CallSettings(
                4_096,
                s.timeoutNanos(),
                s.maxTimeoutNanos(),
                s.maxWaitNanos(),
                2,
                10,
                100,
                1_000,
                10_000));
    FakeMember member = kit.member(0, 9, 1);
    FakeCaller caller = kit.caller(0);
    for (int i = 0; i < 10; i++) {
      caller.call();
    }
    // Each has a body of 142 bytes with its overhead; the member has one.
    assertThat(kit.bus.queuedBytes()).isEqualTo(4 * 142);
    assertThat(caller.outcomes.values()).hasSize(5).containsOnly("OVERLOADED NO");
    member.close(0);
  }

  @Test
  void aBusThatIsShortOfMemoryTakesNoCalls() {
    member(0, 9);
    FakeCaller caller = caller();
    kit.memory.reserve(2L << 30);
    assertThat(caller.outcome(caller.call())).isEqualTo("OVERLOADED NO");
    kit.memory.release(2L << 30);
  }

  private String outcomeOf(FakeCaller caller, CallPriority priority, int timeoutMillis) {
    long call =
        caller.call(
            r -> {
              r.priority = priority;
              r.timeoutMillis = timeoutMillis;
            });
    return String.valueOf(caller.outcome(call));
  }

  @Test
  void refusesACallWhileOthersHaveWaitedTooLong() {
    FakeMember member = member(0, 9);
    FakeCaller caller = caller();
    for (int i = 0; i < 3; i++) {
      caller.call(r -> r.priority = CallPriority.HIGH);
      caller.call();
      caller.call(r -> r.priority = CallPriority.LOW);
    }
    kit.advance(200 * MILLIS);
    assertThat(outcomeOf(caller, CallPriority.LOW, 0)).isEqualTo("null");
    kit.advance(1);
    assertThat(outcomeOf(caller, CallPriority.LOW, 0)).isEqualTo("OVERLOADED NO");
    assertThat(caller.retryAfter).isEqualTo(201);
    // Three quarters of its time.
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 264)).isEqualTo("OVERLOADED NO");
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 268)).isEqualTo("null");
    kit.advance(800 * MILLIS);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("OVERLOADED NO");
    assertThat(outcomeOf(caller, CallPriority.HIGH, 0)).isEqualTo("null");
    // A group without waiting calls has its turn soon, but the turn has not come for a second.
    assertThat(outcomeOf(kit.caller(0, "other"), CallPriority.NORMAL, 0))
        .isEqualTo("OVERLOADED NO");
    for (int i = 0; i < 4; i++) {
      member.reply();
    }
    assertThat(outcomeOf(kit.caller(0, "other"), CallPriority.NORMAL, 0)).isEqualTo("null");
    member.close(0);
  }

  @Test
  void shedsTheOldestCallWithARefusal() {
    FakeMember member = member(0, 9);
    FakeCaller caller = caller();
    caller.call();
    long oldest = caller.call();
    long younger = caller.call();
    kit.advance(2_000 * MILLIS);
    long refused = caller.call();
    assertThat(caller.outcome(refused)).isEqualTo("OVERLOADED NO");
    assertThat(caller.outcome(oldest)).isNull();
    kit.advance(1);
    caller.call();
    assertThat(caller.outcome(oldest)).isEqualTo("OVERLOADED NO");
    assertThat(caller.outcome(younger)).isNull();
    assertThat(kit.sum(s -> s.shed(CallPriority.NORMAL).get())).isEqualTo(3);
    member.close(0);
  }

  @Test
  void waitingForAPausedMemberDoesNotCount() {
    FakeMember member = member(0, 9);
    FakeMember other = member(0, 10);
    FakeCaller caller = caller();
    for (int i = 0; i < MemberWindow.FAILURES; i++) {
      caller.call(r -> r.member = 9);
      member.fail(FailureCode.INTERNAL, Execution.YES);
    }
    assertThat(member.window().isPaused()).isTrue();
    for (int i = 0; i < 2; i++) {
      long call =
          caller.call(
              r -> {
                r.member = 9;
                r.priority = CallPriority.LOW;
              });
      assertThat(caller.outcome(call)).isNull();
      kit.advance(300 * MILLIS);
    }
    caller.close();
    other.close(0);
    member.close(0);
  }

  @Test
  void unsentCallsComeBackInOrderWithTheirWaitingTime() {
    FakeMember member = member(0, 9);
    FakeCaller caller = caller();
    caller.call();
    FakeMember other = kit.member(0, 10, 8);
    for (int i = 0; i < 8; i++) {
      caller.call();
    }
    assertThat(other.given).hasSize(8);
    kit.advance(1_001 * MILLIS);
    other.close(0);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("OVERLOADED NO");
    for (int i = 0; i < 9; i++) {
      member.reply();
    }
    assertThat(member.invocations)
        .extracting(CallFixture.Dispatched::request)
        .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    member.close(0);
  }

  /** Peer that answers nothing. */
  private static final class PeerPort implements MemberPort {
    @Override
    public void invoke(MemberInvocation call) {}

    @Override
    public void cancel(long call, String reason) {}
  }

  private ServiceMember peer(int grant) {
    ServiceMember[] made = new ServiceMember[1];
    kit.on(
        0,
        () -> {
          made[0] = kit.loops.get(0).bus(new PeerPort()).serve(1, new ServiceKey("", "s"));
          grant(made[0], grant);
        });
    return made[0];
  }

  private void grant(ServiceMember peer, int calls) {
    kit.on(0, () -> peer.grant(calls));
  }

  private void closeFar(ServiceMember peer) {
    kit.on(0, () -> peer.client().close(Long.MAX_VALUE));
  }

  @Test
  void aTogglingMemberDoesNotRestartTheWaitWhileAPeerHasPlaces() {
    ServiceMember busy = peer(1);
    FakeMember toggles = kit.member(0, 9, 0);
    FakeCaller caller = caller();
    for (int i = 0; i < 4; i++) {
      caller.call();
    }
    kit.advance(900 * MILLIS);
    toggles.capacity(1);
    toggles.capacity(0);
    kit.advance(100 * MILLIS + 1);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("OVERLOADED NO");
    toggles.close(0);
    closeFar(busy);
    caller.close();
  }

  @Test
  void aStreamThatFlapsDoesNotMakeCallsWaitAnewWhileAnotherBusHasPlaces() {
    ServiceMember busy = peer(1);
    ServiceMember flaps = peer(0);
    FakeCaller caller = caller();
    for (int i = 0; i < 4; i++) {
      caller.call();
    }
    kit.advance(900 * MILLIS);
    grant(flaps, 1);
    grant(flaps, 0);
    kit.advance(100 * MILLIS + 1);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("OVERLOADED NO");
    grant(busy, 0);
    kit.advance(1_000 * MILLIS);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).as("none has places").isEqualTo("null");
    grant(busy, 1);
    kit.advance(1_000 * MILLIS);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).as("since then").isEqualTo("null");
    kit.advance(1);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("OVERLOADED NO");
    closeFar(flaps);
    closeFar(busy);
    caller.close();
  }

  @Test
  void waitingWithoutMembersDoesNotCount() {
    FakeCaller caller = caller();
    for (int i = 0; i < 3; i++) {
      caller.call(r -> r.waitMillis = 20_000);
      kit.advance(5_000 * MILLIS);
    }
    FakeMember member = member(0, 9);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("null");
    kit.advance(1_000 * MILLIS);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("null");
    kit.advance(1);
    assertThat(outcomeOf(caller, CallPriority.NORMAL, 0)).isEqualTo("OVERLOADED NO");
    assertThat(caller.outcomes).hasSize(1);
    member.close(0);
  }

  @Test
  void aSlowAnswerCausesNoRefusal() {
    FakeMember member = kit.member(0, 9, 4);
    FakeCaller caller = caller();
    caller.call();
    kit.advance(1_000 * MILLIS);
    member.reply();
    for (int i = 0; i < 100; i++) {
      caller.call(r -> r.timeoutMillis = 5_000);
    }
    assertThat(caller.outcomes).hasSize(1);
    member.close(0);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void pausedMembersResumeWhenOthersTakeNoCalls(int loop) {
    FakeMember member = member(loop, 9);
    FakeMember other = member(0, 8);
    FakeCaller caller = caller();
    for (int i = 0; i < MemberWindow.FAILURES; i++) {
      caller.call(r -> r.member = 9);
      member.fail(FailureCode.INTERNAL, Execution.UNKNOWN);
    }
    assertThat(member.window().isPaused()).isTrue();
    other.capacity(0);
    assertThat(member.window().isPaused()).isFalse();
    caller.call();
    assertThat(member.given).hasSize(1);
    member.close(0);
  }

  @Test
  void aServiceThatEndsWhileAPlaceIsOnItsWayIsForgotten() {
    kit = new CallFixture(3);
    FakeMember member = member(1, 9);
    FakeMember last = member(2, 8);
    FakeCaller caller = caller();
    caller.call();
    caller.call();
    long waits = caller.call(r -> r.waitMillis = 1_000);
    kit.slow(true);
    member.reply();
    member.capacity(0);
    last.capacity(0);
    kit.step(2);
    // The service has no members any more, and a call waits; then the place arrives.
    kit.step(0);
    kit.slow(false);
    kit.drain();
    assertThat(member.given).hasSize(1);
    assertThat(kit.loops.get(0).services().size()).isZero();
    member.reply();
    assertThat(caller.outcome(waits)).startsWith("reply done of 9");
    last.reply();
  }

  @Test
  void aConnectionThatEndsIsGivenNothingMoreByItsOtherServices() {
    FakeMember member = member(0, 9);
    FakeCaller caller = caller();
    kit.on(0, () -> assertThat(member.client.register(5, "t", 1)).isNotNull());
    caller.call();
    caller.call();
    caller.onOutcome(
        call -> {
          if (call <= 2) {
            caller.call(
                r -> {
                  r.service = java.nio.ByteBuffer.wrap(new byte[] {'t', 's'});
                  r.serviceStart = call == 2 ? 0 : 1;
                });
          }
        });
    member.close(1);
    assertThat(member.invoked).isEqualTo(1);
    assertThat(caller.outcomes.get(1L)).isEqualTo("MEMBER_LOST UNKNOWN");
    assertThat(caller.outcomes.get(2L)).isEqualTo("NO_MEMBER NO");
    assertThat(caller.outcomes).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource({"0, 20, false", "1, 20, false", "0, 150, true", "1, 150, true"})
  void timeoutsPauseAMemberOnlyIfItIsToBlame(int loop, int millis, boolean stopped) {
    FakeMember member = kit.member(loop, 9, 4);
    FakeMember other = kit.member(loop, 8, 1);
    FakeCaller caller = caller();
    caller.call(r -> r.member = 9);
    kit.advance(MILLIS);
    member.reply();
    caller.outcomes.clear();
    for (int i = 0; i < 5; i++) {
      caller.call(
          r -> {
            r.member = 9;
            r.timeoutMillis = millis;
          });
      if (i == 3) {
        kit.advance((millis + 20) * MILLIS);
        assertThat(member.window().isPaused()).isFalse();
        while (!member.given.isEmpty()) {
          // A late reply does not restore the member.
          member.reply();
        }
      }
    }
    kit.advance((millis + 20) * MILLIS);
    member.reply();
    assertThat(caller.outcomes.values()).containsOnly("TIMEOUT UNKNOWN");
    assertThat(member.window().isPaused()).isEqualTo(stopped);
    assertThat(other.window().isPaused()).isFalse();
    kit.advance(1_100 * MILLIS);
    assertThat(member.window().isPaused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aPausedMemberThatLeavesHasNoDeadline(int loop) {
    FakeMember member = member(loop, 9);
    FakeMember other = member(loop, 8);
    FakeCaller caller = caller();
    for (int i = 0; i < MemberWindow.FAILURES; i++) {
      caller.call(r -> r.member = 9);
      member.fail(FailureCode.INTERNAL, Execution.UNKNOWN);
    }
    assertThat(member.window().isPaused()).isTrue();
    assertThat(kit.loops.get(loop).deadlines().size()).isEqualTo(1);
    member.close(Long.MAX_VALUE);
    assertThat(kit.loops.get(loop).deadlines().size()).isZero();
    // The scheduled tick is still to come, and is the last one.
    assertThat(kit.hasTimers()).isTrue();
    kit.advance(TimerWheel.TICK_NANOS);
    assertThat(kit.hasTimers()).isFalse();
    assertThat(other.window().hasFree()).isTrue();
  }

  @Test
  void usersAreForgottenWithTheirLastConnection() {
    FakeCaller one = kit.caller(0, "user");
    FakeCaller other = kit.caller(0, "user");
    assertThat(one.client.group()).isSameAs(other.client.group());
    FairnessGroup group = one.client.group();
    one.close();
    assertThat(kit.caller(0, "user").client.group()).isSameAs(group);
    other.close();
    FakeCaller last = kit.caller(1, "user");
    assertThat(last.client.group()).isNotSameAs(group);
    last.close();
    assertThat(kit.caller(1, "user").client.group()).isNotSameAs(last.client.group());
  }

  @Test
  void answersOfOthersAndSecondAnswersAreNotKnown() {
    FakeMember member = member(0, 9);
    FakeMember thief = kit.member(0, 8, 0);
    FakeMember farThief = kit.member(1, 7, 0);
    FakeCaller caller = caller();
    long call = caller.call();
    long number = member.given.get(0).call();
    assertThat(thief.reply(number)).isFalse();
    assertThat(farThief.fail(number, FailureCode.FAILED, Execution.YES)).isFalse();
    assertThat(caller.outcome(call)).isNull();
    assertThat(member.reply(number)).isTrue();
    assertThat(member.reply(number)).isFalse();
    assertThat(member.fail(number, FailureCode.FAILED, Execution.YES)).isFalse();
    assertThat(caller.outcome(call)).startsWith("reply");
    assertThat(member.window().outstanding()).isZero();
  }

  @Test
  void aMemberThatLeavesIsGivenNothingMore() {
    FakeMember member = member(1, 9);
    FakeMember other = member(0, 8);
    FakeCaller caller = caller();
    other.window().tryAcquire();
    kit.slow(true);
    long call = caller.call();
    // The call is on its way to the other loop when the member leaves.
    member.unregister();
    other.window().release();
    kit.slow(false);
    kit.drain();
    assertThat(member.invoked).isZero();
    assertThat(other.given).hasSize(1);
    other.reply();
    assertThat(caller.outcome(call)).startsWith("reply done of 8");
  }

  @Test
  void capacityChangesTheWindow() {
    FakeMember member = kit.member(0, 9, 0);
    FakeCaller caller = caller();
    assertThat(caller.outcome(caller.call())).isEqualTo("NO_MEMBER NO");
    member.capacity(2);
    long first = caller.call();
    long second = caller.call();
    long third = caller.call();
    assertThat(member.given).hasSize(2);
    member.capacity(3);
    assertThat(member.given).hasSize(3);
    member.capacity(0);
    long none = caller.call();
    assertThat(caller.outcome(none)).isEqualTo("NO_MEMBER NO");
    member.reply();
    member.reply();
    member.reply();
    assertThat(caller.outcomes.keySet()).contains(first, second, third);
    assertThat(member.window().outstanding()).isZero();
  }

  @Test
  void aConnectionIsAMemberOfAServiceOnce() {
    FakeMember member = member(0, 9);
    assertThat(member.client.register(6, "s", 1)).isNull();
    ServiceMember other = member.client.register(6, "t", 1);
    assertThat(other).isNotNull();
    assertThat(kit.bus.serviceCount()).isEqualTo(2);
    member.unregister();
    assertThat(kit.bus.service(new ServiceKey("", "s"))).isEmpty();
    assertThat(kit.bus.service(new ServiceKey("", "t"))).isPresent();
    member.unregister();
    member.register(2);
    assertThat(kit.bus.service(new ServiceKey("", "s")).orElseThrow().members())
        .extracting(MemberFigures::concurrency)
        .containsExactly(2);
  }

  @Test
  void loopsThatWaitTakeTurns() {
    FakeMember member = member(0, 9);
    FakeCaller local = kit.caller(0);
    FakeCaller peer = kit.caller(1);
    local.call();
    for (int i = 0; i < 10; i++) {
      local.call();
      peer.call();
    }
    for (int i = 0; i < 9; i++) {
      kit.advance(MILLIS);
      member.reply();
    }
    assertThat(local.outcomes).hasSize(5);
    assertThat(peer.outcomes).hasSize(4);
    local.close();
    peer.close();
  }

  @Test
  void aPlaceThatIsNotNeededAnyMoreGoesToAnotherLoop() {
    FakeMember member = member(0, 9);
    FakeCaller local = kit.caller(0);
    FakeCaller peer = kit.caller(1);
    local.call();
    long goes = peer.call();
    kit.advance(MILLIS);
    kit.slow(true);
    // The place is on its way to the other loop, where the call is cancelled meanwhile.
    member.reply();
    peer.cancel(goes);
    kit.slow(false);
    kit.drain();
    assertThat(peer.outcome(goes)).isEqualTo("CANCELLED NO");
    assertThat(member.window().outstanding()).isZero();
    long last = local.call();
    member.reply();
    assertThat(local.outcome(last)).startsWith("reply");
  }

  @Test
  void aCallerMayBeginCallsAndGoInAnAnswer() {
    FakeMember member = kit.member(0, 9, 1);
    member.onInvoke(g -> kit.schedule(0, MILLIS, () -> member.reply(g.call())));
    FakeCaller caller = caller();
    caller.onOutcome(
        call -> {
          if (call < 5) {
            caller.call();
          } else {
            caller.close();
          }
        });
    caller.call();
    kit.advance(20 * MILLIS);
    assertThat(caller.outcomes).hasSize(5);
  }
}
