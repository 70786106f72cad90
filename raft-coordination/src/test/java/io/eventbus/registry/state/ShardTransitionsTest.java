package io.eventbus.registry.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommandResult.Refused;
import io.eventbus.registry.CommandResult.ShardPlaced;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Buses a, b, c and d have data directories of generation 1; e has none. */
class ShardTransitionsTest {
  private static final List<ShardReplica> THREE =
      List.of(voter("a", 1), voter("b", 1), voter("c", 1));

  private RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
  private List<RegistryChange> changes = List.of();
  private long nextId = 1;

  @BeforeEach
  void registerBuses() {
    for (String bus : List.of("a", "b", "c", "d", "e")) {
      register(bus, bus.equals("e") ? 0 : 1);
    }
  }

  @Test
  void aShardIsPlacedByCompareAndSet() {
    assertThat(place(0, THREE)).isEqualTo(new ShardPlaced(6));
    assertThat(state.snapshot().shards()).containsExactly(new ShardInfo(1, 6, THREE));
    assertThat(changes)
        .extracting(RegistryChange::describe)
        .containsExactly("shard 1: version 6, voters a, b, c, 0 listeners");

    List<ShardReplica> more = List.of(THREE.get(0), THREE.get(1), THREE.get(2), listener("d", 1));
    assertThat(place(6, more)).isEqualTo(new ShardPlaced(7));
    assertThat(changes)
        .containsExactly(
            new RegistryChange.ShardPlaced(new ShardInfo(1, 7, more), new ShardInfo(1, 6, THREE)))
        .extracting(RegistryChange::describe)
        .containsExactly("shard 1: version 6 -> 7, voters a, b, c, 1 listeners");

    assertThat(place(6, THREE))
        .isEqualTo(
            new Refused(
                8,
                RegistryRefusalReason.STALE_SHARD,
                "expectedVersion of shard 1: 6 (expected: 7)"));
    assertThat(changes).isEmpty();
    assertThat(state.snapshot().shard(1)).isEqualTo(new ShardInfo(1, 7, more));
    assertThat(state.snapshot().shard(2)).isNull();
  }

  @Test
  void aNewShardMustNotExistAndAnOldOneMust() {
    assertThat(place(3, THREE))
        .isEqualTo(
            new Refused(
                6,
                RegistryRefusalReason.STALE_SHARD,
                "expectedVersion of shard 1: 3 (expected: 0, there is no such shard)"));
    place(0, THREE);
    assertThat(refusal(place(0, THREE))).isEqualTo(RegistryRefusalReason.STALE_SHARD);
  }

  @Test
  void replicasHaveToBeAtBusesWithThatGeneration() {
    assertThat(place(0, List.of(voter("a", 1), listener("x", 1))))
        .isEqualTo(new Refused(6, RegistryRefusalReason.UNKNOWN_BUS, "bus x is not registered"));
    assertThat(place(0, List.of(voter("a", 2))))
        .isEqualTo(
            new Refused(
                7, RegistryRefusalReason.STORAGE_DIFFERS, "generation at bus a: 2 (expected: 1)"));
    assertThat(place(0, List.of(voter("a", 1), listener("e", 1))))
        .isEqualTo(
            new Refused(
                8,
                RegistryRefusalReason.STORAGE_DIFFERS,
                "generation at bus e: 1 (expected: no replica, the bus has no data directory)"));
    assertThat(state.snapshot().shards()).isEmpty();
  }

  @Test
  void aRepeatedCommandGetsItsFirstResult() {
    TimedCommand command = command(new ShardCommand.Place(1, 0, THREE));
    Applied first = StateMachine.apply(state, command);
    state = first.state();
    place(6, List.of(voter("a", 1)));
    RegistryState before = state;
    Applied again = StateMachine.apply(state, command);
    assertThat(again.result()).isEqualTo(new ShardPlaced(6));
    assertThat(again.state()).isSameAs(before);
    assertThat(again.changes()).isEmpty();
  }

  @Test
  void aBusThatIsRemovedStaysNamed() {
    place(0, THREE);
    remove("b");
    assertThat(state.snapshot().bus(new BusId("b"))).isNull();
    assertThat(state.snapshot().shard(1)).isEqualTo(new ShardInfo(1, 6, THREE));
    assertThat(RegistryState.restore(state.image())).isEqualTo(state);
  }

  /** Lets a change of others not wait for a bus that is gone, or has lost its files. */
  @Test
  void replicasThatDoNotChangeAreNotLookedAt() {
    place(0, THREE);
    remove("b");
    register("c", 2);
    List<ShardReplica> more = List.of(THREE.get(0), THREE.get(1), THREE.get(2), listener("d", 1));
    assertThat(place(6, more)).isInstanceOf(ShardPlaced.class);
    long version = state.snapshot().version();
    assertThat(refusal(place(version, List.of(voter("a", 1), listener("b", 1), listener("d", 1)))))
        .as("b listens instead")
        .isEqualTo(RegistryRefusalReason.UNKNOWN_BUS);
    assertThat(refusal(place(version, List.of(voter("a", 1), listener("c", 1)))))
        .as("c listens instead")
        .isEqualTo(RegistryRefusalReason.STORAGE_DIFFERS);
    assertThat(place(version, List.of(voter("a", 1), listener("c", 2))))
        .isInstanceOf(ShardPlaced.class);
  }

  private static ShardReplica voter(String bus, int generation) {
    return new ShardReplica(new BusId(bus), generation, true);
  }

  private static ShardReplica listener(String bus, int generation) {
    return new ShardReplica(new BusId(bus), generation, false);
  }

  private long epoch(String bus) {
    return Objects.requireNonNull(state.snapshot().bus(new BusId(bus))).epoch();
  }

  private void register(String bus, int storage) {
    boolean known = state.snapshot().bus(new BusId(bus)) != null;
    apply(new BusCommand.Register(Samples.bus(bus, "z", storage), known ? epoch(bus) : 0, 5_000))
        .expect(CommandResult.BusRegistered.class);
  }

  private void remove(String bus) {
    apply(new BusCommand.ChangeState(new BusId(bus), epoch(bus), BusState.DOWN));
    apply(new BusCommand.Remove(new BusId(bus), epoch(bus))).expect(CommandResult.BusRemoved.class);
  }

  private CommandResult place(long expectedVersion, List<ShardReplica> replicas) {
    return apply(new ShardCommand.Place(1, expectedVersion, replicas));
  }

  private CommandResult apply(RegistryCommand command) {
    Applied applied = StateMachine.apply(state, command(command));
    state = applied.state();
    changes = applied.changes();
    return applied.result();
  }

  private TimedCommand command(RegistryCommand command) {
    return Samples.at(1_000, state.snapshot().version(), nextId++, command);
  }

  private static RegistryRefusalReason refusal(CommandResult result) {
    assertThat(result).isInstanceOf(Refused.class);
    return ((Refused) result).reason();
  }
}
