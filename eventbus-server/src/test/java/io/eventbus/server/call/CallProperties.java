package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallFixture.Dispatched;
import io.eventbus.server.call.CallFixture.FakeCaller;
import io.eventbus.server.call.CallFixture.FakeMember;
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
 * Random behaviour of callers, members and loops: each call ends once, the reported execution is
 * true, and nothing is leaked.
 */
class CallProperties {
  private static final int LOOPS = 3;
  private static final List<CallPriority> PRIORITIES = List.of(CallPriority.values());

  /** Single run: the steps are drawn from a seed. */
  private static final class Run {
    final CallFixture kit = new CallFixture(LOOPS);
    final java.util.Random random;
    final List<FakeCaller> callers = new ArrayList<>();
    final List<FakeMember> members = new ArrayList<>();
    final List<FakeCaller> everyCaller = new ArrayList<>();
    final Set<String> idempotent = new HashSet<>();
    // Number of dispatches of a request whose member has not said that it did nothing.
    final Map<String, Integer> perhapsExecuted = new HashMap<>();
    long nextMember = 1;

    Run(long seed) {
      random = new java.util.Random(seed);
      for (int i = 0; i < 4; i++) {
        callers.add(caller());
      }
      kit.slow(true);
    }

    private FakeCaller caller() {
      FakeCaller made = kit.caller(random.nextInt(LOOPS), "share" + random.nextInt(3));
      everyCaller.add(made);
      return made;
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
        callers.set(callers.indexOf(caller), caller());
      } else {
        kit.advance(random.nextInt(40) * CallFixture.MILLIS);
      }
      for (int i = random.nextInt(4); i > 0; i--) {
        kit.step(random.nextInt(LOOPS));
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
                r.priority = PRIORITIES.get(random.nextInt(3));
                r.member = random.nextInt(4) > 0 ? 0 : 1 + random.nextInt((int) nextMember);
              });
      if (again) {
        idempotent.add(caller.info.producer() + "/" + call);
      }
    }

    private void answer() {
      FakeMember member = any(members);
      if (member == null || member.given.isEmpty()) {
        return;
      }
      int how = random.nextInt(6);
      if (how > 0) {
        perhaps(member.given.get(0));
      }
      switch (how) {
        case 0 -> member.fail(FailureCode.REFUSED, Execution.NO);
        case 1 -> member.fail(FailureCode.INTERNAL, Execution.UNKNOWN);
        case 2 -> member.fail(FailureCode.FAILED, Execution.YES);
        default -> member.reply();
      }
    }

    private void perhaps(Dispatched given) {
      perhapsExecuted.merge(given.id(), 1, Integer::sum);
    }

    private void close() {
      FakeMember member = any(members);
      if (member != null) {
        members.remove(member);
        int answered = member.invocations.size() - member.given.size();
        // Answers come in order, so answered calls were written.
        int written = answered + random.nextInt(member.given.size() + 1);
        member.invocations.subList(answered, written).forEach(this::perhaps);
        member.close(written);
      }
    }

    void finish(FakeMember member) {
      while (!member.given.isEmpty()) {
        perhaps(member.given.get(0));
        member.reply();
      }
    }

    /** Lets everything end that clients have left. */
    void settle() {
      while (!kit.loops.stream().allMatch(loop -> loop.slices().isEmpty())) {
        kit.advance(CallFixture.MILLIS);
      }
    }

    /** Checks a quiescent state: no call waits while a place is free. */
    void quiet() {
      kit.slow(false);
      kit.drain();
      settle();
      kit.slow(true);
      for (FakeMember member : members) {
        LocalService service = member.member().service();
        if (member.window().hasFree()) {
          assertThat(service.waiting().any()).as("a place is free, and a call waits").isFalse();
        }
        assertThat(member.window().outstanding()).as("places taken").isEqualTo(member.given.size());
        assertThat(member.member().unanswered()).isEqualTo(member.given.size());
        assertThat(member.member().waiting().any() && member.window().hasFree()).isFalse();
      }
    }

    void check() {
      for (FakeCaller caller : everyCaller) {
        caller.outcomes.forEach(
            (call, outcome) -> {
              String id = caller.info.producer() + "/" + call;
              int times = perhapsExecuted.getOrDefault(id, 0);
              if (outcome.contains(" NO")) {
                assertThat(times).as("%s: %s", id, outcome).isZero();
              }
              if (outcome.startsWith("reply") || outcome.contains(" YES")) {
                assertThat(times).as("%s: %s", id, outcome).isPositive();
              }
            });
      }
      perhapsExecuted.forEach(
          (id, times) ->
              assertThat(times).as(id).isLessThanOrEqualTo(idempotent.contains(id) ? 3 : 1));
    }
  }

  @Property(tries = 150)
  void everyCallEndsOnceWithATrueExecution(@ForAll long seed) {
    endsOnce(new Run(seed));
  }

  /**
   * Ends a slice after a few steps, so that other things happen before a closed client's calls end.
   */
  @Property(tries = 150)
  void everyCallEndsOnceWhenClosedClientsEndInSlices(@ForAll long seed) {
    Run run = new Run(seed);
    run.kit.cost = Slices.SLICE_NANOS / 2;
    endsOnce(run);
  }

  private static void endsOnce(Run run) {
    for (int i = 0; i < 300; i++) {
      run.step();
      if (i % 20 == 0) {
        run.quiet();
      }
    }
    run.kit.slow(false);
    run.kit.drain();
    run.check();
    // Members answer their calls, and time goes by.
    for (FakeMember member : run.members) {
      run.finish(member);
    }
    run.kit.advance(31_000 * CallFixture.MILLIS);
    for (FakeMember member : run.members) {
      run.finish(member);
      assertThat(member.window().outstanding()).as("places of %s", member.number).isZero();
      assertThat(member.member().unanswered()).isZero();
    }
    run.settle();
    run.check();
    for (FakeCaller caller : run.callers) {
      assertThat(caller.client.inFlight()).isZero();
    }
    assertThat(run.kit.sum(s -> s.inFlight.get())).isZero();
    assertThat(run.kit.sum(s -> s.queued.get())).isZero();
    assertThat(run.kit.bus.queuedBytes()).isZero();
    assertThat(run.kit.memory.used()).isZero();
    run.members.forEach(m -> m.close(Long.MAX_VALUE));
    run.settle();
    for (LoopCalls loop : run.kit.loops) {
      assertThat(loop.services().size()).isZero();
      assertThat(loop.deadlines().size()).isZero();
    }
    // A paused member that closes clears its deadline, but not the scheduled tick.
    run.kit.advance(TimerWheel.TICK_NANOS);
    assertThat(run.kit.hasTimers()).isFalse();
  }
}
