package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallKit.FakeCaller;
import io.eventbus.server.call.CallKit.FakeMember;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/**
 * Whatever callers, members and loops do, and in whatever order: each call ends once, what is said
 * of its execution is true, and nothing is left over.
 */
class CallProperties {
  private static final int LOOPS = 3;

  /** One run: what is done next is drawn from a seed. */
  private static final class Run {
    final CallKit kit = new CallKit(LOOPS);
    final java.util.Random random;
    final List<FakeCaller> callers = new ArrayList<>();
    final List<FakeMember> members = new ArrayList<>();
    final Set<FakeMember> closed = new HashSet<>();
    final Map<FakeCaller, Set<Long>> idempotent = new HashMap<>();
    long nextMember = 1;

    Run(long seed) {
      random = new java.util.Random(seed);
      for (int i = 0; i < 4; i++) {
        callers.add(kit.caller(random.nextInt(LOOPS), "share" + random.nextInt(3)));
      }
    }

    <T> @Nullable T any(List<T> all) {
      return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
    }

    void step() {
      int what = random.nextInt(100);
      if (what < 40) {
        call();
      } else if (what < 65) {
        answer();
      } else if (what < 72) {
        members.add(kit.member(random.nextInt(LOOPS), nextMember++, random.nextInt(4)));
      } else if (what < 76) {
        close();
      } else if (what < 80) {
        FakeMember member = any(members);
        if (member != null) {
          member.capacity(random.nextInt(6));
        }
      } else if (what < 82) {
        FakeMember member = any(members);
        if (member != null) {
          member.unregister();
        }
      } else if (what < 88) {
        FakeCaller caller = callers.get(random.nextInt(callers.size()));
        caller.cancel(1 + random.nextInt(1 + caller.outcomes.size() + 3));
      } else if (what < 90) {
        FakeCaller caller = callers.get(random.nextInt(callers.size()));
        caller.close();
        callers.set(
            callers.indexOf(caller), kit.caller(random.nextInt(LOOPS), "share" + what));
      } else {
        kit.advance(random.nextInt(40) * CallKit.MILLIS);
      }
    }

    private void call() {
      FakeCaller caller = callers.get(random.nextInt(callers.size()));
      boolean again = random.nextBoolean();
      long call =
          caller.call(
              r -> {
                r.idempotent = again;
                r.waitMillis = random.nextInt(3) * 20;
                r.timeoutMillis = random.nextInt(3) * 50;
                r.priority = CallPriority.values()[random.nextInt(3)];
                r.member = random.nextInt(4) > 0 ? 0 : 1 + random.nextInt((int) nextMember);
              });
      if (again) {
        idempotent.computeIfAbsent(caller, c -> new HashSet<>()).add(call);
      }
    }

    private void answer() {
      FakeMember member = any(members);
      if (member == null || member.given.isEmpty()) {
        return;
      }
      switch (random.nextInt(6)) {
        case 0 -> member.fail(FailureCode.REFUSED, Execution.NO);
        case 1 -> member.fail(FailureCode.INTERNAL, Execution.UNKNOWN);
        case 2 -> member.fail(FailureCode.FAILED, Execution.YES);
        default -> member.reply();
      }
    }

    private void close() {
      FakeMember member = any(members);
      if (member != null) {
        members.remove(member);
        closed.add(member);
        member.close(random.nextInt((int) member.invoked + 1));
      }
    }
  }

  @Property(tries = 400)
  void everyCallEndsOnceAndIsToldTheTruth(@ForAll long seed) {
    Run run = new Run(seed);
    for (int i = 0; i < 300; i++) {
      run.step();
      for (FakeMember member : run.members) {
        MemberWindow window = member.window();
        assertThat(window.limit()).isBetween(0, 6 + MemberWindow.MOST_WAITING);
        if (!member.member().isGone()) {
          assertThat(window.outstanding())
              .as("places taken of %s", member.number)
              .isEqualTo(Math.max(window.outstanding(), 0))
              .isGreaterThanOrEqualTo(member.given.size() > window.limit() ? 0 : 0);
        }
      }
    }
    // Members answer what they have, and time goes by.
    for (FakeMember member : run.members) {
      while (!member.given.isEmpty()) {
        member.reply();
      }
    }
    run.kit.advance(31_000 * CallKit.MILLIS);
    for (FakeMember member : run.members) {
      while (!member.given.isEmpty()) {
        member.reply();
      }
      assertThat(member.window().outstanding()).as("places of %s", member.number).isZero();
      assertThat(member.member().unanswered()).isZero();
    }
    for (FakeCaller caller : run.callers) {
      assertThat(caller.client.inFlight()).isZero();
    }
    assertThat(run.kit.sum(s -> s.inFlight.get())).isZero();
    assertThat(run.kit.sum(s -> s.queued.get())).isZero();
    assertThat(run.kit.bus.queuedBytes()).isZero();
    assertThat(run.kit.memory.used()).isZero();
    run.members.forEach(m -> m.close(Long.MAX_VALUE));
    for (LoopCalls loop : run.kit.loops) {
      assertThat(loop.services().size()).isZero();
    }
    assertThat(run.kit.hasTimers()).isFalse();
  }
}
