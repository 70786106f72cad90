package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallFixture.FakeMember;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.ServiceShare;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GatheringTest {
  private final CallFixture kit = new CallFixture(2);
  private final FakeGatherer caller = new FakeGatherer(kit);

  /** Caller on loop 0. */
  private static final class FakeGatherer implements GatherPort {
    final List<String> answers = new ArrayList<>();
    final GatheringClient client;
    private final CallFixture kit;
    long chargedNanos;

    FakeGatherer(CallFixture kit) {
      this.kit = kit;
      CallerInfo info = new CallerInfo(77, new byte[0], "share");
      GatheringClient[] made = new GatheringClient[1];
      LoopCalls loop = kit.loops.get(0);
      ServiceShare held = loop.share(ServiceShare.Address.UNBOUNDED);
      kit.on(0, () -> made[0] = loop.gatherer(this, info, held));
      client = made[0];
    }

    int ask(long call, int timeoutMillis) {
      CallRequest request = new CallRequest();
      request.service = ByteBuffer.wrap("s".getBytes(StandardCharsets.UTF_8));
      request.serviceLength = 1;
      request.call = call;
      request.timeoutMillis = timeoutMillis;
      Delivery body = kit.delivery("body");
      request.body = body;
      int[] asked = new int[1];
      kit.on(0, () -> asked[0] = client.begin(request));
      body.release();
      return asked[0];
    }

    @Override
    public void chargeWork(long nanos) {
      chargedNanos += nanos;
    }

    private void add(long call, long member, boolean more, String what) {
      answers.add(call + " of " + member + ": " + what + (more ? "" : ", the last"));
    }

    @Override
    public void reply(
        long call, long member, int queued, int handled, boolean more, Delivery reply) {
      add(call, member, more, CallFixture.text(reply));
    }

    @Override
    public void failure(long call, long member, boolean more, Delivery failure) {
      add(call, member, more, CallFixture.text(failure));
    }

    @Override
    public void failure(
        long call,
        long member,
        FailureCode code,
        Execution executed,
        long retryAfterMillis,
        boolean more,
        String message) {
      add(call, member, more, code + " " + executed);
    }
  }

  @Test
  void everyMemberThatTakesCallsAnswersOnceAndTheLastAnswerIsKnown() {
    FakeMember one = kit.member(0, 10, 4);
    FakeMember other = kit.member(1, 20, 4);
    FakeMember present = kit.member(1, 30, 0);

    assertThat(caller.ask(5, 0)).isEqualTo(2);

    assertThat(one.given).hasSize(1);
    assertThat(one.given.get(0).request()).isEqualTo(5);
    assertThat(one.given.get(0).caller()).isEqualTo(77);
    assertThat(other.given.get(0).request()).isEqualTo(5);
    assertThat(present.given).isEmpty();
    other.reply();
    one.fail(FailureCode.FAILED, Execution.YES);
    assertThat(caller.answers).containsExactly("5 of 20: done", "5 of 10: why, the last");
    assertThat(caller.client.has(5)).isFalse();
    assertNothingLeft();
  }

  private void assertNothingLeft() {
    assertThat(kit.sum(s -> s.inFlight.get())).isZero();
    assertThat(kit.sum(s -> s.queued.get())).isZero();
    assertThat(kit.bus.queuedBytes()).isZero();
  }

  @Test
  void aClientThatIsAMemberTwiceIsAskedOnce() {
    kit.member(0, 10, 4);
    kit.member(1, 10, 4);
    assertThat(caller.ask(5, 0)).isEqualTo(1);
  }

  @Test
  void aServiceWithoutMembersThatTakeCallsFailsAtOnce() {
    assertThat(caller.ask(1, 0)).isZero();
    kit.member(0, 10, 0);
    assertThat(caller.ask(2, 0)).isZero();
    assertThat(caller.answers)
        .containsExactly("1 of 0: NO_MEMBER NO, the last", "2 of 0: NO_MEMBER NO, the last");
  }

  @Test
  void aMemberThatGoesConcernsItsOwnPart() {
    FakeMember lost = kit.member(1, 10, 4);
    FakeMember unwritten = kit.member(1, 20, 4);
    FakeMember stays = kit.member(0, 30, 4);
    caller.ask(1, 0);
    lost.close(Long.MAX_VALUE);
    unwritten.close(0);
    stays.reply();
    assertThat(caller.answers)
        .containsExactly(
            "1 of 10: MEMBER_LOST UNKNOWN", "1 of 20: MEMBER_LOST NO", "1 of 30: done, the last");
    assertNothingLeft();
  }

  @Test
  void aMemberGetsNoMoreThanItsWindow() {
    FakeMember member = kit.member(0, 10, 1);
    int window = member.window().limit();
    for (int call = 1; call <= window + 3; call++) {
      assertThat(caller.ask(call, 1_000)).isEqualTo(1);
    }
    assertThat(member.given).hasSize(window);
    kit.advance(2_000 * CallFixture.MILLIS);
    assertThat(caller.answers).hasSize(window + 3);
    assertThat(caller.answers.stream().filter(a -> a.endsWith("TIMEOUT NO, the last"))).hasSize(3);
    assertThat(caller.answers.stream().filter(a -> a.endsWith("TIMEOUT UNKNOWN, the last")))
        .hasSize(window);
    for (int call = 0; call < window; call++) {
      assertThat(member.reply()).isTrue();
    }
    assertThat(caller.answers).hasSize(window + 3);
    assertNothingLeft();
  }

  @Test
  void aCancelledRequestEndsAtOnceAndNotifiesItsMembers() {
    FakeMember here = kit.member(0, 10, 4);
    FakeMember there = kit.member(1, 20, 4);
    caller.ask(9, 0);
    kit.on(0, () -> caller.client.cancel(9, "no longer"));
    assertThat(caller.answers).containsExactly("9 of 0: CANCELLED UNKNOWN, the last");
    assertThat(here.cancelled).containsValue("no longer");
    assertThat(there.cancelled).containsValue("no longer");
    here.reply();
    there.reply();
    assertThat(caller.answers).hasSize(1);
    assertNothingLeft();
  }

  @Test
  void aConnectionThatEndsLeavesNothing() {
    FakeMember member = kit.member(1, 20, 4);
    caller.ask(9, 0);
    kit.on(0, () -> caller.client.close());
    assertThat(member.cancelled).hasSize(1);
    member.reply();
    assertThat(caller.answers).isEmpty();
    assertThat(caller.ask(10, 0)).isEqualTo(GatheringClient.IN_FLIGHT);
    assertNothingLeft();
  }

  @Test
  void aNumberThatIsInFlightIsRefused() {
    kit.member(0, 10, 4);
    caller.ask(1, 0);
    assertThat(caller.ask(1, 0)).isEqualTo(GatheringClient.IN_FLIGHT);
  }

  @Test
  void aConnectionWaitsForABoundedNumberOfMembers() {
    CallSettings s = CallFixture.SETTINGS;
    CallFixture small =
        new CallFixture(
            1,
            new CallSettings(
                s.callsInFlight(),
                s.timeoutNanos(),
                s.maxTimeoutNanos(),
                s.maxWaitNanos(),
                s.retries(),
                s.retryPercent(),
                s.queueRequests(),
                s.queueBytes(),
                3));
    FakeGatherer gatherer = new FakeGatherer(small);
    FakeMember one = small.member(0, 10, 4);
    FakeMember other = small.member(0, 20, 4);
    assertThat(gatherer.ask(1, 0)).isEqualTo(2);
    assertThat(gatherer.ask(2, 0)).isZero();
    assertThat(gatherer.answers).containsExactly("2 of 0: OVERLOADED NO, the last");
    one.close(0);
    other.reply();
    assertThat(gatherer.ask(3, 0)).isEqualTo(1);
  }

  @Test
  void aGreatManyMembersAreAskedAndToldOfTheEndInSlices() {
    List<FakeMember> members = new ArrayList<>();
    for (int i = 1; i <= 1_000; i++) {
      members.add(kit.member(i % 2, i, 4));
    }
    kit.cost = 10_000;
    long began = kit.now;
    kit.slow(true);
    assertThat(caller.ask(1, 10_000)).isEqualTo(1_000);
    assertThat(kit.now - began).isLessThan(4 * CallFixture.MILLIS);
    kit.slow(false);
    kit.advance(100 * CallFixture.MILLIS);
    assertThat(members).allMatch(m -> m.given.size() == 1);
    assertThat(caller.client.inFlight()).isEqualTo(1_000);
    kit.slow(true);
    began = kit.now;
    kit.on(0, () -> caller.client.cancel(1, "no longer"));
    assertThat(kit.now - began).isLessThan(4 * CallFixture.MILLIS);
    assertThat(caller.answers).containsExactly("1 of 0: CANCELLED UNKNOWN, the last");
    kit.slow(false);
    kit.advance(100 * CallFixture.MILLIS);
    assertThat(members).allMatch(m -> m.cancelled.size() == 1);
    assertThat(caller.client.inFlight()).as("members have them still").isEqualTo(1_000);
    assertThat(caller.chargedNanos).isGreaterThan(10 * CallFixture.MILLIS);
    members.forEach(FakeMember::reply);
    assertThat(caller.client.inFlight()).isZero();
    kit.cost = 0;
    assertNothingLeft();
  }

  @Test
  void aRequestThatIsCancelledBeforeAllWereAskedAsksNoFurtherMember() {
    List<FakeMember> members = new ArrayList<>();
    for (int i = 1; i <= 1_000; i++) {
      members.add(kit.member(0, i, 4));
    }
    kit.cost = 10_000;
    kit.slow(true);
    caller.ask(1, 10_000);
    kit.on(0, () -> caller.client.cancel(1, "no longer"));
    kit.slow(false);
    kit.advance(100 * CallFixture.MILLIS);
    long asked = members.stream().filter(m -> m.invoked > 0).count();
    assertThat(asked).isBetween(1L, 500L);
    assertThat(caller.client.inFlight()).isEqualTo((int) asked);
    members.stream().filter(m -> m.invoked > 0).forEach(FakeMember::reply);
    assertThat(caller.client.inFlight()).isZero();
    assertThat(kit.memory.used()).isZero();
  }
}
