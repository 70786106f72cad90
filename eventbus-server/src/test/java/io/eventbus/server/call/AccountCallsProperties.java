package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Callers and members of several accounts with one service name: no call meets another account. */
class AccountCallsProperties {
  sealed interface Step {}

  record Join(String account, int loop) implements Step {}

  record Leave(int which) implements Step {}

  /**
   * Call of a member by the index {@code pinned} among all members, of whatever account; -1 for
   * any.
   */
  record Call(String account, int loop, boolean waits, int pinned) implements Step {}

  record Reply(int which) implements Step {}

  private record Member(String account, CallFixture.FakeMember fake) {}

  private record Caller(String account, CallFixture.FakeCaller fake) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<String> account = Arbitraries.of("", "a", "b");
    Arbitrary<Integer> loop = Arbitraries.of(0, 1);
    Arbitrary<Integer> which = Arbitraries.integers().between(0, 20);
    Arbitrary<Step> join = Combinators.combine(account, loop).as(Join::new);
    Arbitrary<Step> call =
        Combinators.combine(
                account,
                loop,
                Arbitraries.of(true, false),
                Arbitraries.integers().between(-5, 4).map(i -> Math.max(-1, i)))
            .as(Call::new);
    return Arbitraries.oneOf(join, call, call, which.map(Leave::new), which.map(Reply::new))
        .list()
        .ofMaxSize(50);
  }

  @Property(tries = 200)
  void noCallMeetsAnotherAccount(@ForAll("steps") List<Step> steps) {
    new OneBus().run(steps);
  }

  /** State of one try. */
  private static final class OneBus {
    private final CallFixture kit = new CallFixture(2);
    private final List<Member> members = new ArrayList<>();
    private final List<Caller> callers = new ArrayList<>();
    private final Map<Long, String> accountOfCaller = new HashMap<>();
    private long lastNumber;

    private void join(Join step) {
      CallFixture.FakeMember fake = kit.memberOf(step.account(), step.loop(), ++lastNumber, 2);
      fake.onInvoke(
          given ->
              assertThat(accountOfCaller.get(given.caller()))
                  .as("the account of a caller")
                  .isEqualTo(step.account()));
      members.add(new Member(step.account(), fake));
    }

    private void call(Call step) {
      CallFixture.FakeCaller fake = kit.callerOf(step.account(), step.loop());
      accountOfCaller.put(fake.info.producer(), step.account());
      callers.add(new Caller(step.account(), fake));
      boolean served = members.stream().anyMatch(m -> m.account().equals(step.account()));
      Member pinned =
          step.pinned() < 0 || members.isEmpty()
              ? null
              : members.get(step.pinned() % members.size());
      long call =
          fake.call(
              r -> {
                r.waitMillis = step.waits() ? 100 : 0;
                r.member = pinned == null ? 0 : pinned.fake().number;
              });
      if (!step.waits() && !served) {
        assertThat(fake.outcome(call)).startsWith("NO_MEMBER");
      }
      if (pinned != null && !pinned.account().equals(step.account()) && !step.waits()) {
        assertThat(fake.outcome(call)).as("a member of another account").startsWith("NO_MEMBER");
      }
    }

    void run(List<Step> steps) {
      for (Step step : steps) {
        if (step instanceof Join join) {
          join(join);
        } else if (step instanceof Call call) {
          call(call);
        } else if (step instanceof Leave leave && !members.isEmpty()) {
          members.remove(leave.which() % members.size()).fake().close(Long.MAX_VALUE);
        } else if (step instanceof Reply reply && !members.isEmpty()) {
          CallFixture.FakeMember fake = members.get(reply.which() % members.size()).fake();
          if (!fake.given.isEmpty()) {
            fake.reply();
          }
        }
        kit.advance(CallFixture.MILLIS);
        checkFigures();
      }
      members.forEach(member -> member.fake().close(Long.MAX_VALUE));
      callers.forEach(caller -> caller.fake().close());
      kit.advance(60_000 * CallFixture.MILLIS);
      assertThat(kit.bus.serviceCount()).isZero();
      assertThat(kit.bus.memberCount()).isZero();
      kit.loops.forEach(loop -> assertThat(loop.services().size()).isZero());
    }

    private void checkFigures() {
      List<ServiceKey> served = new ArrayList<>();
      kit.bus.forEachService(served::add);
      assertThat(served).hasSize(kit.bus.serviceCount()).doesNotHaveDuplicates();
      for (ServiceKey key : served) {
        assertThat(kit.bus.service(key).orElseThrow().members())
            .extracting(MemberFigures::number)
            .containsExactlyInAnyOrderElementsOf(
                members.stream()
                    .filter(member -> member.account().equals(key.account()))
                    .map(member -> member.fake().number)
                    .toList());
      }
    }
  }
}
