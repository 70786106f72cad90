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
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random lives of buses, with every step of the policy carried out. */
class VoterPolicyProperties {
  private static final long REPLACE_AFTER = 10_000;

  @Property(tries = 500)
  void noStepLeavesLessToSpareAndInTheEndThereAreEnoughVoters(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 3) int half) {
    int wanted = 2 * half - 1;
    World world = new World(seed, wanted);
    for (int i = 0; i < 200; i++) {
      world.event();
      world.step();
    }
    world.settle();
    long up = world.count(BusState.UP);
    assertThat(world.voters.stream().filter(world::isUp).count()).isEqualTo(Math.min(wanted, up));
    assertThat(world.voters).hasSize((int) Math.min(wanted, up));
  }

  @Test
  void votesAreSpreadOverTheZones() {
    World world = new World(1, 3);
    for (String bus : List.of("a0", "b0", "c0", "d1", "e2")) {
      world.join(bus);
    }
    world.settle();
    assertThat(world.voters).containsExactlyInAnyOrder("a0", "d1", "e2");
  }

  @Test
  void aVoterThatIsDownForAShortTimeKeepsItsVote() {
    World world = new World(1, 3);
    for (String bus : List.of("a0", "b0", "c0", "d0")) {
      world.join(bus);
    }
    world.settle();
    assertThat(world.voters).containsExactlyInAnyOrder("a0", "b0", "c0");
    world.change("b0", BusState.DOWN);
    world.now += 5_000;
    assertThat(world.next()).isNull();
    world.now += 10_000;
    assertThat(world.next()).isEqualTo(new Step("b0", "d0", false));
  }

  @Test
  void withoutAMajorityNothingIsTouched() {
    World world = new World(1, 3);
    for (String bus : List.of("a0", "b0", "c0", "d0")) {
      world.join(bus);
    }
    world.settle();
    world.change("b0", BusState.DOWN);
    world.change("c0", BusState.DOWN);
    world.now += 1_000_000;
    assertThat(world.next()).isNull();
  }

  @Test
  void aLeaderThatDrainsHandsOverFirst() {
    World world = new World(1, 1);
    world.join("a0");
    world.join("b0");
    world.change("a0", BusState.DRAINING);
    assertThat(world.next()).isEqualTo(new Step("a0", "b0", true));
  }

  private static final class World {
    final Random random;
    final VoterPolicy policy;
    final List<String> voters = new ArrayList<>();
    final List<String> listeners = new ArrayList<>();
    RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
    String leader = "a0";
    long now;

    World(long seed, int wanted) {
      this.random = new Random(seed);
      this.policy = new VoterPolicy(wanted, REPLACE_AFTER);
      voters.add("a0");
      join("a0");
    }

    void apply(RegistryCommand command) {
      CommandId id = new CommandId(state.snapshot().version(), random.nextLong(), 0);
      state = StateMachine.apply(state, new TimedCommand(id, now, command)).state();
    }

    /** Adds a bus; the digit at the end is its zone. */
    void join(String bus) {
      BusDescription description =
          new BusDescription(
              new BusId(bus),
              new BusAddresses(List.of("ws://127.0.0.1:1/bus"), null, null, null),
              "zone" + bus.charAt(1),
              "1",
              1,
              0);
      apply(new BusCommand.Register(description, epoch(bus), 1_000));
      change(bus, BusState.UP);
      if (!voters.contains(bus) && !listeners.contains(bus)) {
        listeners.add(bus);
      }
    }

    long epoch(String bus) {
      BusInfo info = state.snapshot().bus(new BusId(bus));
      return info == null ? 0 : info.epoch();
    }

    void change(String bus, BusState next) {
      apply(new BusCommand.RenewLease(new BusId(bus), Math.max(1, epoch(bus)), 1_000));
      apply(new BusCommand.ChangeState(new BusId(bus), Math.max(1, epoch(bus)), next));
    }

    boolean isUp(String bus) {
      BusInfo info = state.snapshot().bus(new BusId(bus));
      return info != null && info.state() == BusState.UP;
    }

    boolean isAlive(String bus) {
      BusInfo info = state.snapshot().bus(new BusId(bus));
      return info != null && info.state() != BusState.DOWN;
    }

    long count(BusState wanted) {
      return state.snapshot().buses().stream().filter(bus -> bus.state() == wanted).count();
    }

    Situation situation() {
      return new Situation(leader, voters, listeners, state.snapshot(), now);
    }

    @Nullable Step next() {
      return policy.next(situation());
    }

    void event() {
      now += random.nextInt(4_000);
      String bus = "abcdefgh".charAt(random.nextInt(8)) + "" + random.nextInt(3);
      switch (random.nextInt(5)) {
        case 0, 1 -> join(bus);
        case 2 -> change(bus, BusState.DRAINING);
        case 3 -> crash(bus);
        default -> elect();
      }
    }

    /** Ends a bus, but never the majority: that no policy can mend. */
    void crash(String bus) {
      RegistryState before = state;
      change(bus, BusState.DOWN);
      if (VoterPolicy.spare(situation(), voters) < 0 || bus.equals(leader)) {
        state = before;
      }
    }

    void elect() {
      String next = voters.get(random.nextInt(voters.size()));
      if (isAlive(next)) {
        leader = next;
      }
    }

    void step() {
      Step step = next();
      if (step == null) {
        return;
      }
      if (step.handOver() && voters.size() > 1) {
        voters.stream()
            .filter(v -> !v.equals(leader) && isAlive(v))
            .findFirst()
            .ifPresent(v -> leader = v);
        return;
      }
      List<String> after = new ArrayList<>(voters);
      if (step.in() != null) {
        assertThat(isUp(step.in())).isTrue();
        assertThat(listeners.remove(step.in())).isTrue();
        after.add(step.in());
      }
      if (step.out() != null && !step.handOver()) {
        assertThat(step.out()).isNotEqualTo(leader);
        assertThat(after.remove(step.out())).isTrue();
        listeners.add(step.out());
      }
      assertThat(VoterPolicy.spare(situation(), after))
          .as("%s of %s", step, voters)
          .isGreaterThanOrEqualTo(VoterPolicy.spare(situation(), voters))
          .isNotNegative();
      voters.clear();
      voters.addAll(after);
    }

    /** Carries out the policy's steps, and nothing else; buses that drain come back. */
    void settle() {
      for (BusInfo bus : state.snapshot().buses()) {
        if (bus.state() == BusState.DRAINING || bus.state() == BusState.JOINING) {
          change(bus.id().value(), BusState.UP);
        }
      }
      if (!isUp(leader)) {
        join(leader);
      }
      now += 100 * REPLACE_AFTER;
      for (int i = 0; i < 100 && next() != null; i++) {
        step();
      }
      assertThat(next()).isNull();
    }
  }
}
