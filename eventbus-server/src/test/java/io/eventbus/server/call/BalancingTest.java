package io.eventbus.server.call;

import static io.eventbus.server.call.CallFixture.MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallFixture.Dispatched;
import io.eventbus.server.call.CallFixture.FakeCaller;
import io.eventbus.server.call.CallFixture.FakeMember;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Distribution of calls in a simulation of members with service times and a network. */
class BalancingTest {
  private static final long SECOND = 1_000 * MILLIS;

  /** Nanoseconds one way, between a client and the bus. */
  private static final long NETWORK = 25_000;

  private final CallFixture kit = new CallFixture(2);
  private final List<Server> servers = new ArrayList<>();
  private final List<FakeCaller> callers = new ArrayList<>();

  @AfterEach
  void assertNoLeaks() {
    callers.forEach(FakeCaller::close);
    servers.forEach(server -> server.member.close(Long.MAX_VALUE));
    assertThat(kit.memory.used()).isZero();
  }

  private FakeCaller caller(int loop, String share) {
    FakeCaller caller = kit.caller(loop, share);
    callers.add(caller);
    return caller;
  }

  /** Client that works on a number of calls at once and lets the others wait. */
  private final class Server {
    private final FakeMember member;
    private final long serviceNanos;
    private final Queue<Dispatched> waiting = new ArrayDeque<>();
    private int idle;
    private long done;
    private boolean stalled;
    private boolean fails;

    Server(int loop, int concurrency, long serviceNanos) {
      this.serviceNanos = serviceNanos;
      this.idle = concurrency;
      member = kit.member(loop, servers.size() + 1, concurrency);
      member.onInvoke(g -> kit.schedule(loop, NETWORK, () -> arrived(g)));
      servers.add(this);
    }

    private void arrived(Dispatched call) {
      member.given.clear();
      waiting.add(call);
      work();
    }

    private void work() {
      while (idle > 0 && !stalled && !waiting.isEmpty()) {
        idle--;
        Dispatched call = waiting.remove();
        kit.schedule(member.loop, fails ? 1 : serviceNanos, () -> finish(call));
      }
    }

    private void finish(Dispatched call) {
      idle++;
      done++;
      kit.schedule(
          member.loop,
          NETWORK,
          () -> {
            if (fails) {
              member.fail(call.call(), FailureCode.INTERNAL, Execution.YES);
            } else {
              member.reply(call.call());
            }
          });
      work();
    }

    void stall() {
      stalled = true;
    }

    void goOn() {
      stalled = false;
      work();
    }
  }

  /** Client that keeps a number of calls open, with their durations. */
  private final class Caller {
    private final FakeCaller caller;
    private final Map<Long, Long> began = new HashMap<>();
    private final List<Long> nanos = new ArrayList<>();

    Caller(int loop, String share, int calls) {
      caller = BalancingTest.this.caller(loop, share);
      caller.onOutcome(
          call -> {
            nanos.add(kit.now + NETWORK - began.remove(call));
            boolean refused = String.valueOf(caller.outcome(call)).startsWith("OVERLOADED");
            kit.schedule(loop, refused ? 100 * MILLIS : 2 * NETWORK, this::call);
          });
      for (int i = 0; i < calls; i++) {
        call();
      }
    }

    private void call() {
      caller.call(r -> began.put(r.call, kit.now - NETWORK));
    }

    long percentile(double part) {
      List<Long> sorted = nanos.stream().sorted().toList();
      return sorted.get((int) (part * (sorted.size() - 1)));
    }
  }

  private long[] doneIn(long nanos) {
    long[] before = servers.stream().mapToLong(s -> s.done).toArray();
    kit.advance(nanos);
    long[] done = new long[before.length];
    for (int i = 0; i < done.length; i++) {
      done[i] = servers.get(i).done - before[i];
    }
    return done;
  }

  private static long sum(long[] values) {
    return java.util.Arrays.stream(values).sum();
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0", "0, 1, 0", "1, 1, 1"})
  void sharesAreProportionalToSpeed(int first, int second, int third) {
    var unused = new Server(first, 1, 4 * MILLIS);
    unused = new Server(second, 1, 2 * MILLIS);
    unused = new Server(third, 1, MILLIS);
    var clients = List.of(new Caller(0, "a", 32), new Caller(1, "b", 32));
    kit.advance(2 * SECOND);
    long[] done = doneIn(10 * SECOND);
    double total = sum(done);
    assertThat(total).as("of 17,500 calls").isGreaterThan(0.97 * 17_500);
    assertThat(done[0] / total).isBetween(0.97 / 7, 1.03 / 7);
    assertThat(done[1] / total).isBetween(0.97 * 2 / 7, 1.03 * 2 / 7);
    assertThat(done[2] / total).isBetween(0.97 * 4 / 7, 1.03 * 4 / 7);
    // Both loops have their part, wherever the members are.
    double near = clients.get(0).nanos.size();
    assertThat(near / clients.get(1).nanos.size()).isBetween(0.8, 1.25);
  }

  @Test
  void aMemberThatStallsHoldsOnlyWhatIsInItsWindow() {
    for (int i = 0; i < 4; i++) {
      var unused = new Server(i % 2, 4, 2 * MILLIS);
    }
    Caller caller = new Caller(0, "a", 64);
    kit.advance(2 * SECOND);
    long[] before = doneIn(5 * SECOND);
    servers.get(0).stall();
    kit.advance(100 * MILLIS);
    long[] stalled = doneIn(5 * SECOND);
    assertThat(stalled[0]).isZero();
    double others = before[1] + before[2] + before[3];
    assertThat(sum(stalled)).isGreaterThan((long) (0.95 * others));
    int window = servers.get(0).member.window().limit();
    assertThat(servers.get(0).member.member().unanswered()).isEqualTo(window);
    assertThat(caller.nanos.stream().filter(n -> n > SECOND)).isEmpty();
    servers.get(0).goOn();
    long[] after = doneIn(5 * SECOND);
    assertThat(caller.nanos.stream().filter(n -> n > SECOND)).hasSize(window);
    assertThat(after[0]).isGreaterThan((long) (0.9 * before[0]));
  }

  @Test
  void aMemberThatFailsAtOnceIsNoMagnet() {
    for (int i = 0; i < 4; i++) {
      var unused = new Server(0, 2, 2 * MILLIS);
    }
    Caller caller = new Caller(1, "a", 32);
    kit.advance(2 * SECOND);
    servers.get(3).fails = true;
    // The calls on their way, and five.
    assertThat(doneIn(500 * MILLIS)[3]).isBetween(5L, 12L);
    long[] done = doneIn(10 * SECOND);
    // A call after each pause of 1, 2 and 4 seconds.
    assertThat(done[3]).isEqualTo(3);
    assertThat(sum(done)).isGreaterThan((long) (0.95 * 3 * 10_000));
    servers.get(3).fails = false;
    kit.advance(20 * SECOND);
    assertThat(doneIn(5 * SECOND)[3]).isGreaterThan(4_500);
    assertThat(caller.nanos).isNotEmpty();
  }

  @Test
  void doesNotPauseAllMembers() {
    for (int i = 0; i < 4; i++) {
      new Server(0, 2, MILLIS).fails = true;
    }
    var unused = new Caller(0, "a", 8);
    kit.advance(2 * SECOND);
    assertThat(servers.stream().filter(s -> s.member.window().isPaused())).hasSize(2);
    assertThat(sum(doneIn(SECOND))).isGreaterThan(1_000);
    // Half of the remaining members would be too many.
    for (Server server : servers) {
      if (!server.member.window().isPaused()) {
        server.member.close(Long.MAX_VALUE);
      }
    }
    assertThat(servers).noneMatch(s -> s.member.window().isPaused());
    assertThat(sum(doneIn(SECOND))).isPositive();
  }

  @Test
  void overloadIsRefusedAndUrgentCallsAreServed() {
    for (int i = 0; i < 4; i++) {
      var unused = new Server(i % 2, 2, 4 * MILLIS);
    }
    FakeCaller normal = caller(0, "normal");
    FakeCaller urgent = caller(1, "urgent");
    // 2,000 a second can be done; 4,000 are asked for, of them 400 urgent.
    for (int i = 0; i < 40_000; i++) {
      boolean high = i % 10 == 0;
      kit.schedule(
          high ? 1 : 0,
          i * SECOND / 4_000,
          () ->
              (high ? urgent : normal)
                  .call(r -> r.priority = high ? CallPriority.HIGH : CallPriority.NORMAL));
    }
    kit.advance(3 * SECOND);
    assertThat(sum(doneIn(5 * SECOND))).isGreaterThan((long) (0.95 * 10_000));
    kit.advance(5 * SECOND);
    long served = urgent.outcomes.values().stream().filter(o -> o.startsWith("reply")).count();
    assertThat(urgent.outcomes).hasSize(4_000);
    assertThat(served).isGreaterThanOrEqualTo(3_960);
    assertThat(normal.outcomes.values().stream().filter(o -> !o.startsWith("reply")))
        .hasSizeGreaterThan(15_000)
        .allMatch("OVERLOADED NO"::equals);
  }

  @Test
  void aMemberThatStandsStillForAMomentCausesNoRefusal() {
    Server server = new Server(0, 16, MILLIS / 2);
    FakeCaller caller = caller(1, "a");
    // Load of 1,000 a second for a capacity of 32,000.
    for (int i = 0; i < 14_000; i++) {
      kit.schedule(1, i * MILLIS, () -> caller.call(r -> r.timeoutMillis = 2_000));
    }
    for (int second = 5; second <= 11; second += 3) {
      kit.schedule(0, second * SECOND, server::stall);
      kit.schedule(0, second * SECOND + 300 * MILLIS, server::goOn);
    }
    kit.advance(15 * SECOND);
    assertThat(caller.outcomes).hasSize(14_000);
    assertThat(caller.outcomes.values()).allMatch(o -> o.startsWith("reply"));
  }

  @Test
  void aFloodOfTenTimesTheCapacityWaitsNoLongerThanItMay() {
    var unused = new Server(0, 4, 4 * MILLIS);
    FakeCaller flood = caller(1, "flood");
    Map<Long, Long> began = new HashMap<>();
    List<Long> replied = new ArrayList<>();
    List<Long> refused = new ArrayList<>();
    flood.onOutcome(
        call -> {
          boolean reply = String.valueOf(flood.outcome(call)).startsWith("reply");
          (reply ? replied : refused).add(kit.now - began.getOrDefault(call, kit.now));
        });
    for (int i = 0; i < 100_000; i++) {
      kit.schedule(
          1,
          i * SECOND / 10_000,
          () ->
              flood.call(
                  r -> {
                    r.timeoutMillis = 2_000;
                    began.put(r.call, kit.now);
                  }));
    }
    // Waiting calls are served after the last arrival as long as their time allows.
    kit.advance(10 * SECOND - 1);
    // 1,000 a second can be done.
    assertThat(replied).hasSizeGreaterThan(9_500);
    assertThat(replied).allMatch(nanos -> nanos < 1_600 * MILLIS);
    assertThat(refused).allMatch(nanos -> nanos < 1_600 * MILLIS);
    long atOnce = refused.stream().filter(nanos -> nanos == 0).count();
    assertThat(atOnce).isGreaterThan(refused.size() / 2);
  }

  @Test
  void callsThatAreRefusedForTheirShortTimeDoNotShedThoseOfOthers() {
    FakeMember member = kit.member(0, 1, 1);
    FakeCaller patient = caller(0, "patient");
    for (int i = 0; i < 21; i++) {
      patient.call();
    }
    kit.advance(2 * SECOND + MILLIS);
    FakeCaller hasty = caller(0, "hasty");
    for (int i = 0; i < 1_900; i++) {
      hasty.call(r -> r.timeoutMillis = 1);
      kit.advance(MILLIS);
    }
    // A group is shed once in the time that calls may wait.
    assertThat(patient.outcomes.values()).containsExactly("OVERLOADED NO");
    assertThat(patient.retryAfter).as("of its own limit").isEqualTo(1_001);
    assertThat(hasty.outcomes).hasSize(1_900);
    patient.close();
    member.close(Long.MAX_VALUE);
  }

  @Test
  void aCrowdWithOneCallEachIsRefusedAsOneWithManyIs() {
    var unused = new Server(0, 1, 10 * MILLIS);
    List<FakeCaller> crowd = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      FakeCaller each = caller(0, "share" + i);
      crowd.add(each);
      kit.schedule(0, i * 2L * MILLIS, () -> each.call(r -> r.timeoutMillis = 30_000));
    }
    kit.advance(10 * SECOND);
    long refused = crowd.stream().filter(c -> c.outcomes.containsValue("OVERLOADED NO")).count();
    long replied =
        crowd.stream().filter(c -> String.valueOf(c.outcome(1)).startsWith("reply")).count();
    assertThat(refused + replied).isEqualTo(2_000);
    // All that were done in the 4 s of arrivals, and those that may wait.
    assertThat(replied).isBetween(400L, 700L);
  }

  @Test
  void anIdleMemberIsGivenAsManyCallsAsItDeclares() {
    Server server = new Server(0, 64, 3 * SECOND);
    FakeCaller caller = caller(1, "a");
    for (int i = 0; i < 100; i++) {
      kit.schedule(1, i * 100L * MILLIS, () -> caller.call(r -> r.timeoutMillis = 10_000));
    }
    kit.advance(13 * SECOND + SECOND / 2);
    assertThat(server.done).isEqualTo(100);
    assertThat(caller.outcomes.values()).allMatch(o -> o.startsWith("reply done of 1 after 0"));
  }

  @Test
  void aCallerWithOneCallIsNotHeldUpByThoseWithMany() {
    for (int i = 0; i < 4; i++) {
      var unused = new Server(0, 8, 10 * MILLIS);
    }
    kit.advance(SECOND);
    for (int i = 0; i < 10; i++) {
      var unused = new Caller(i % 2, "flood" + i, 200);
    }
    Caller light = new Caller(1, "light", 1);
    kit.advance(2 * SECOND);
    light.nanos.clear();
    kit.advance(5 * SECOND);
    assertThat(light.nanos.size()).isGreaterThan(150);
    assertThat(light.percentile(0.99)).isLessThan(30 * MILLIS + 4 * NETWORK);
    assertThat(light.caller.outcomes.values()).allMatch(o -> o.startsWith("reply"));
  }

  @Test
  void idleMembersOfTheCallersLoopAreTakenFirst() {
    var unused = new Server(1, 4, MILLIS);
    Server near = new Server(0, 4, MILLIS);
    var caller = new Caller(0, "a", 1);
    kit.advance(SECOND);
    assertThat(caller.nanos).isNotEmpty();
    double part = near.done / (double) caller.nanos.size();
    assertThat(part).isGreaterThan(0.9);
  }

  @Test
  void wideWindowsGetMoreOfManyMembers() {
    for (int i = 0; i < 10; i++) {
      var unused = new Server(0, i == 0 ? 40 : 4, 4 * MILLIS);
    }
    // Half of the capacity: 76 at once.
    var caller = new Caller(0, "a", 38);
    kit.advance(2 * SECOND);
    long[] done = doneIn(5 * SECOND);
    assertThat(done[0] / (double) sum(done)).isGreaterThan(0.35);
    assertThat(caller.nanos).isNotEmpty();
  }
}
