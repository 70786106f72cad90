package io.eventbus.registry.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.membership.VoterPolicy.Situation;
import io.eventbus.registry.membership.VoterPolicy.Step;
import io.eventbus.registry.membership.VoterRequests.Answer;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * Requests of operators, who may do as much as automation. Of a bus's name the digit is its zone.
 */
class VoterRequestsTest {
  private static final long NOW = 1_000_000;
  private static final List<BusState> STATES =
      List.of(BusState.JOINING, BusState.UP, BusState.DRAINING, BusState.DOWN);

  private final VoterRequests requests = new VoterRequests(new VoterPolicy(3, 600_000));
  private RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);

  private void apply(RegistryCommand command) {
    long version = state.snapshot().version();
    state =
        StateMachine.apply(state, new TimedCommand(new CommandId(version, 0, 1), NOW, command))
            .state();
  }

  private void bus(String name, BusState wanted) {
    apply(
        new BusCommand.Register(
            new BusDescription(
                new BusId(name),
                new BusAddresses(List.of("ws://127.0.0.1:1/bus"), null, null, null),
                "zone" + name.charAt(1),
                "1",
                1,
                0),
            0,
            1_000));
    BusInfo info = state.snapshot().bus(new BusId(name));
    assertThat(info).isNotNull();
    if (wanted == BusState.DRAINING) {
      apply(new BusCommand.ChangeState(new BusId(name), info.epoch(), BusState.UP));
    }
    if (wanted != BusState.JOINING) {
      apply(new BusCommand.ChangeState(new BusId(name), info.epoch(), wanted));
    }
  }

  private Situation up(List<String> voters, List<String> listeners) {
    voters.forEach(bus -> bus(bus, BusState.UP));
    listeners.forEach(bus -> bus(bus, BusState.UP));
    return situation(voters, listeners);
  }

  private Situation situation(List<String> voters, List<String> listeners) {
    return new Situation(voters.get(0), voters, listeners, state.snapshot(), NOW);
  }

  private static void assertRefused(Answer answer, String why) {
    assertThat(answer.step()).isNull();
    assertThat(answer.refusal()).contains(why);
  }

  @Test
  void aListenerTakesTheVoteOfTheOneThatIsNamed() {
    Situation s = up(List.of("a0", "b0", "c0"), List.of("d0"));
    assertThat(requests.promote(s, "d0", "b0").step()).isEqualTo(new Step("b0", "d0", false));
    assertThat(requests.promote(s, "d0", null).step()).isEqualTo(new Step("c0", "d0", false));
    assertThat(requests.promote(s, "b0", null).step()).isEqualTo(new Step(null, null, false));
    assertRefused(requests.promote(s, "d0", "a0"), "bus a0 leads");
    assertRefused(requests.promote(s, "d0", "x0"), "bus x0 has no vote");
    assertRefused(requests.promote(s, "x0", null), "bus x0 is no member");
  }

  @Test
  void onlyABusThatIsUpGetsAVote() {
    up(List.of("a0", "b0", "c0"), List.of());
    bus("d0", BusState.DOWN);
    bus("e0", BusState.DRAINING);
    Situation s = situation(List.of("a0", "b0", "c0"), List.of("d0", "e0", "f0"));
    assertRefused(requests.promote(s, "d0", null), "bus d0 is DOWN (expected: UP)");
    assertRefused(requests.promote(s, "e0", null), "bus e0 is DRAINING (expected: UP)");
    assertRefused(requests.promote(s, "f0", null), "bus f0 is not registered (expected: UP)");
  }

  @Test
  void refusesRequestsThatThePolicyWouldUndo() {
    Situation spread = up(List.of("a0", "b1", "c2"), List.of("d0"));
    assertRefused(requests.promote(spread, "d0", "c2"), "undone at once");
    assertThat(requests.promote(spread, "d0", null).step())
        .as("the one in its zone leads, so that another zone would have none")
        .isNull();
    Situation alone = situation(List.of("a0", "b1", "c2"), List.of());
    assertRefused(requests.demote(alone, "c2"), "could fail (expected: 1");
  }

  @Test
  void aVoterGivesItsVoteToAnotherBus() {
    Situation s = up(List.of("a0", "b0", "c0"), List.of("d0"));
    assertThat(requests.demote(s, "c0").step()).isEqualTo(new Step("c0", "d0", false));
    assertThat(requests.demote(s, "d0").step()).isEqualTo(new Step(null, null, false));
    assertRefused(requests.demote(s, "a0"), "bus a0 leads");
    assertRefused(requests.demote(s, "x0"), "bus x0 has no vote");
  }

  @Test
  void aBusIsRemovedWhenItIsDown() {
    up(List.of("a0", "b0"), List.of());
    bus("c0", BusState.DOWN);
    bus("d0", BusState.DOWN);
    Situation s = situation(List.of("a0", "b0", "c0"), List.of("d0"));
    assertThat(requests.remove(s, "c0", false).step()).isEqualTo(new Step("c0", null, false));
    assertThat(requests.remove(s, "d0", false).step()).isEqualTo(new Step(null, null, false));
    assertRefused(requests.remove(s, "b0", false), "bus b0 is UP (expected: DOWN)");
    assertRefused(requests.remove(s, "a0", false), "leads");
    assertRefused(requests.remove(s, "x0", false), "no bus is called x0");
    assertThat(requests.remove(s, "x0", true).step()).isEqualTo(new Step(null, null, false));
  }

  @Test
  void withoutAMajorityNothingIsTouched() {
    up(List.of("a0"), List.of("d0"));
    bus("b0", BusState.DOWN);
    bus("c0", BusState.DOWN);
    Situation s = situation(List.of("a0", "b0", "c0"), List.of("d0"));
    assertRefused(requests.promote(s, "d0", "b0"), "no majority of the voters");
    assertRefused(requests.remove(s, "b0", false), "no majority of the voters");
    assertRefused(requests.leave(s, "b0"), "no majority of the voters");
  }

  @Test
  void aBusThatLeavesIsCountedAsGone() {
    Situation three = up(List.of("a0", "b0", "c0"), List.of());
    assertThat(requests.leave(three, "b0").step()).isEqualTo(new Step("b0", null, false));
    assertRefused(requests.leave(three, "a0"), "leads");
    assertThat(requests.leave(three, "x0").step()).isEqualTo(new Step(null, null, false));
    bus("e0", BusState.DOWN);
    Situation two = situation(List.of("a0", "b0", "e0"), List.of());
    assertRefused(requests.leave(two, "b0"), "there would be no majority of [a0, e0] alive");
  }

  /** Checks that nothing is left with less to spare, whatever the request and the situation. */
  @Property(tries = 2_000)
  void noRequestLeavesLessToSpare(@ForAll long seed) {
    Random random = new Random(seed);
    List<String> voters = new ArrayList<>();
    List<String> listeners = new ArrayList<>();
    for (char c = 'a'; c < 'a' + 2 + random.nextInt(6); c++) {
      String name = c + "" + random.nextInt(3);
      bus(name, STATES.get(random.nextInt(STATES.size())));
      (voters.isEmpty() || random.nextBoolean() ? voters : listeners).add(name);
    }
    List<String> all = new ArrayList<>(voters);
    all.addAll(listeners);
    Situation s = situation(voters, listeners);
    String bus = all.get(random.nextInt(all.size()));
    String other = random.nextBoolean() ? null : voters.get(random.nextInt(voters.size()));
    Answer answer =
        switch (random.nextInt(3)) {
          case 0 -> requests.promote(s, bus, other);
          case 1 -> requests.demote(s, bus);
          default -> requests.remove(s, bus, false);
        };
    Step step = answer.step();
    assertThat(step == null).isEqualTo(answer.refusal() != null);
    if (step == null || (step.in() == null && step.out() == null)) {
      return;
    }
    assertThat(step.out()).isNotEqualTo(s.leader());
    List<String> after = new ArrayList<>(voters);
    after.remove(step.out());
    if (step.in() != null) {
      assertThat(listeners).contains(step.in());
      after.add(step.in());
    }
    assertThat(VoterPolicy.spare(s, after))
        .as("%s of %s", step, voters)
        .isGreaterThanOrEqualTo(VoterPolicy.spare(s, voters))
        .isNotNegative();
  }
}
