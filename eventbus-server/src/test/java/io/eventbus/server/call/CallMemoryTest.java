package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.call.CallFixture.FakeCaller;
import io.eventbus.server.call.CallFixture.FakeMember;
import io.eventbus.server.call.dispatch.MemberWindow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.ServiceShare;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory of calls: bounded for each connection and for all, and released. */
class CallMemoryTest {
  private static final long MEMORY = 4 << 20;

  private final CallFixture kit = new CallFixture(1, CallFixture.SETTINGS, MEMORY);

  @AfterEach
  void nothingIsHeldAtTheEnd() {
    kit.members.values().forEach(member -> member.close(0));
    kit.drain();
    assertThat(kit.memory.services().used()).isZero();
    assertThat(kit.memory.used()).isZero();
  }

  private static long waitFor(FakeCaller caller, String service) {
    byte[] name = service.getBytes(StandardCharsets.UTF_8);
    return caller.call(
        r -> {
          r.service = ByteBuffer.wrap(name);
          r.serviceStart = 0;
          r.serviceLength = name.length;
          r.waitMillis = 60_000;
        });
  }

  /** Returns how many calls wait, each for another service, when further calls are refused. */
  private static int waitForMany(FakeCaller caller, String prefix) {
    for (int i = 0; ; i++) {
      String refused = caller.outcome(waitFor(caller, prefix + i));
      if (refused != null) {
        assertThat(refused).isEqualTo("OVERLOADED NO");
        return i;
      }
    }
  }

  @Test
  void servicesThatNobodyServesAreBoundedForAConnectionAndForAll() {
    FakeCaller[] flood = new FakeCaller[8];
    int all = 0;
    for (int i = 0; i < flood.length; i++) {
      flood[i] = kit.caller(0);
      all += waitForMany(flood[i], "f" + i + ".");
    }
    assertThat(flood[0].client.held().bytes()).isBetween(MEMORY / 8 - 2_000, MEMORY / 8);
    assertThat(kit.memory.services().used()).isLessThanOrEqualTo(MEMORY / 2);
    assertThat(kit.memory.services().used()).isLessThan(MEMORY / 4 + 40_000);
    assertThat(all).isGreaterThan(500);
    FakeMember member = kit.member(0, 9, 1);
    FakeCaller late = kit.caller(0);
    assertThat(late.outcome(waitFor(late, "nobody"))).isEqualTo("OVERLOADED NO");
    assertThat(late.outcome(waitFor(late, "s"))).as("of a service with a member").isNull();
    member.unregister();
    for (FakeCaller caller : flood) {
      caller.close();
    }
    assertThat(kit.memory.services().used()).isLessThan(40_000);
    late.close();
    assertThat(kit.loops.get(0).services().size()).isZero();
  }

  @Test
  void aSmallCallerGoesOnSlightlyOverTheMemoryLimit() {
    kit.member(0, 9, 1_000);
    FakeCaller much = kit.caller(0);
    while (much.client.held().bytes() < ServiceShare.SMALL_BYTES) {
      much.call();
    }
    FakeCaller little = kit.caller(0);
    kit.memory.change(MEMORY);
    assertThat(much.outcome(much.call())).isEqualTo("OVERLOADED NO");
    assertThat(little.outcome(little.call())).isNull();
    kit.memory.change(MEMORY / 8);
    assertThat(little.outcome(little.call())).isEqualTo("OVERLOADED NO");
    kit.memory.change(-MEMORY - MEMORY / 8);
    much.close();
    little.close();
  }

  @Test
  void callsPayForAServiceOnlyWhileNobodyServesIt() {
    FakeMember member = kit.member(0, 9, 1);
    FakeCaller caller = kit.caller(0);
    for (int i = 0; i < 10; i++) {
      waitFor(caller, "s");
    }
    long served = caller.client.held().bytes();
    member.unregister();
    long unserved = caller.client.held().bytes();
    int service = CallHeap.ofWaitingService(1);
    // The member has as many as its window allows.
    long waiting = 10 - member.invoked;
    assertThat(waiting).isPositive();
    assertThat(unserved).isEqualTo(served + waiting * service);
    caller.close();
    assertThat(caller.client.held().bytes()).isLessThan(unserved);
  }

  private long bodyBytes() {
    Delivery body = kit.delivery("body");
    int size = body.size();
    body.release();
    return size;
  }

  @Test
  void callsThatMembersHaveAreBoundedForAConnection() {
    membersForAll();
    FakeCaller caller = kit.caller(0);
    long call = caller.call();
    while (caller.outcome(call) == null) {
      call = caller.call();
    }
    assertThat(caller.outcome(call)).isEqualTo("OVERLOADED NO");
    long each = CallHeap.CALL + bodyBytes();
    assertThat(caller.client.inFlight()).isEqualTo((int) (MEMORY / 8 / each));
    assertThat(caller.client.held().bytes()).isEqualTo(caller.client.inFlight() * each);
    caller.close();
    assertThat(caller.client.held().bytes()).isZero();
  }

  private void membersForAll() {
    for (int i = 0; i < 600; i++) {
      kit.member(0, 9 + i, 4);
    }
  }

  @Test
  void callsWhoseCallerHasGoneAreTheirMembersAndKeepNoRequest() {
    FakeMember member = kit.member(0, 9, 4);
    FakeCaller caller = kit.caller(0);
    for (int i = 0; i < 3; i++) {
      caller.call();
    }
    long before = kit.memory.used();
    caller.close();
    assertThat(before - kit.memory.used()).as("requests").isGreaterThan(3 * 100);
    assertThat(kit.memory.services().used()).isGreaterThanOrEqualTo(3 * CallHeap.CALL);
    assertThat(caller.client.held().bytes()).isZero();
    for (int i = 0; i < 3; i++) {
      assertThat(member.reply()).isTrue();
    }
    assertThat(kit.memory.services().used()).isZero();
    assertThat(member.owes).isNull();
  }

  @Test
  void aMemberThatAnswersNoCancelledCallsHasToGo() {
    FakeMember member = kit.member(0, 9, 10_000);
    // The window grows with completed work.
    member.onInvoke(given -> kit.schedule(0, CallFixture.MILLIS / 100, () -> answer(member)));
    FakeCaller caller = kit.caller(0);
    while (member.window().limit() < 2_000) {
      for (int i = 0; i < 100; i++) {
        caller.call();
      }
      kit.advance(CallFixture.MILLIS);
      kit.advance(member.window().limit() < 1_000 ? MemberWindow.GROWTH_NANOS / 10 : 0);
    }
    kit.advance(1_000 * CallFixture.MILLIS);
    member.onInvoke(given -> {});
    int cancelled = 0;
    while (member.owes == null) {
      caller.cancel(caller.call());
      cancelled++;
    }
    assertThat(cancelled).isEqualTo((int) (MEMORY / 16 / CallHeap.CALL) + 1);
    assertThat(member.owes).contains("unanswered cancelled calls of the member");
    caller.close();
  }

  private static void answer(FakeMember member) {
    if (!member.given.isEmpty()) {
      member.reply();
    }
  }

  @Test
  void aSmallCallerGoesOnWhileOthersUseAllTheyMay() {
    for (int i = 0; i < 100; i++) {
      kit.member(0, 9 + i, 4);
    }
    int begun = 0;
    for (int i = 0; i < 8; i++) {
      begun += waitForMany(kit.caller(0), "f" + i + ".");
    }
    assertThat(begun).isGreaterThan(500);
    FakeCaller late = kit.caller(0);
    assertThat(late.outcome(late.call())).isNull();
    assertThat(late.client.held().bytes()).isLessThan(ServiceShare.SMALL_BYTES);
    for (FakeMember member : kit.members.values()) {
      while (!member.given.isEmpty()) {
        member.reply();
      }
    }
    kit.advance(120_000 * CallFixture.MILLIS);
  }
}
