package io.eventbus.registry.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.state.RegistryImage;
import io.eventbus.registry.state.RegistryState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Table of snapshots. A bus is written as its name, its zone, the generation of its data directory
 * and its state, where UP is left out; a replica as its bus and its generation, with * for a voter.
 */
class ShardPlacementTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "no bus                        |                            | none",
        "none with storage             | a-x-0 b-x-0                | none",
        "one with storage              | a-x-0 b-x-2 c-x-0          | b2*",
        "two with storage              | a-x-1 b-y-1 c-z-0          | a1* b1",
        "three                         | a-x-1 b-x-2 c-x-3          | a1* b2* c3*",
        "five of one zone              | a-x-1 b-x-1 c-x-1 d-x-1 e-x-1 | a1* b1* c1* d1 e1",
        "five of two zones             | a-x-1 b-x-1 c-x-1 d-y-1 e-y-1 | a1* b1* c1 d1* e1",
        "five of three zones           | a-x-1 b-x-1 c-x-1 d-y-1 e-z-1 | a1* b1 c1 d1* e1*",
        "zones of buses without        | a-x-1 b-x-1 c-x-1 d-y-0 e-z-0 | a1* b1* c1*",
        "of two only one is UP         | a-x-1-down b-x-1           | b1*",
        "of two none is UP             | a-x-1-down b-x-1-joining   | none",
        "of three only two are UP      | a-x-1 b-x-1 c-x-1-joining  | none",
        "of three only one is UP       | a-x-1 b-x-1-down c-x-1-down | none",
        "of four three are UP          | a-x-1-down b-x-1 c-x-1 d-x-1 | b1* c1* d1*",
        "a bus that drains             | a-x-1-draining b-x-1 c-x-1 d-x-1 | b1* c1* d1*",
      })
  void aNewShard(String name, @Nullable String buses, String expected) {
    assertThat(next(scene(buses).state)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "as it should be               | a-x-1 b-x-1 c-x-1 d-x-0    | a1* b1* c1*        | none",
        "a new bus                     | a-x-1 b-x-1 c-x-1 d-x-2    | a1* b1* c1*        | a1* b1* c1* d2",
        "a new bus that is not UP      | a-x-1 b-x-1 c-x-1 d-x-2-joining | a1* b1* c1*   | none",
        "one voter and new buses       | a-x-1 b-x-1 c-x-1          | a1*                | a1* b1 c1",
        "a listener is DOWN            | a-x-1 b-x-1-down           | a1* b1             | none",
        "a listener is back            | a-x-1 b-x-1                | a1* b1             | none",
        "a listener has lost its files | a-x-1 b-x-2                | a1* b1             | a1* b2",
        "it is not UP yet              | a-x-1 b-x-2-joining        | a1* b1             | none",
        "a listener without storage    | a-x-1 b-x-0                | a1* b1             | a1*",
        "it is not UP yet either       | a-x-1 b-x-0-joining        | a1* b1             | none",
        "a listener was removed        | a-x-1                      | a1* b1             | a1*",
        "a voter is DOWN               | a-x-1-down b-x-1 c-x-1     | a1* b1* c1*        | none",
        "a voter was removed           | b-x-1 c-x-1                | a1* b1* c1*        | none",
        "it was removed, a bus is new  | b-x-1 c-x-1 d-x-1          | a1* b1* c1*        | a1* b1* c1* d1",
        "a voter has lost its files    | a-x-2 b-x-1 c-x-1          | a1* b1* c1*        | none",
        "a voter without storage       | a-x-0 b-x-1 c-x-1 d-x-1    | a1* b1* c1*        | a1* b1* c1* d1",
        "five voters                   | a-x-1 f-x-1                | a1* b1* c1* d1* e1* | a1* b1* c1* d1* e1* f1",
      })
  void anExistingShard(String name, String buses, String replicas, String expected) {
    assertThat(next(withShard(scene(buses).state, replicas))).isEqualTo(expected);
  }

  /**
   * Table with what the leader knows: the replicas that have caught up, then those that vote if
   * these are not the wanted ones, then buses that are gone.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "as it should be   | a-x-1 b-x-1 c-x-1       | a1* b1* c1*    | a1 b1 c1    |  |  | none",
        "one, two caught up | a-x-1 b-x-1 c-x-1      | a1* b1 c1      | a1 b1       |  |  | none",
        "one becomes three | a-x-1 b-x-1 c-x-1       | a1* b1 c1      | a1 b1 c1    |  |  | a1* b1* c1*",
        "of four zones     | a-x-1 b-x-1 c-y-1 d-z-1 | a1* b1 c1 d1   | a1 b1 c1 d1 |  |  | a1* b1 c1* d1*",
        "one of them DOWN  | a-x-1 b-x-1 c-x-1-down  | a1* b1 c1      | a1 b1 c1    |  |  | none",
        "one of them drains | a-x-1 b-x-1 c-x-1-draining | a1* b1 c1  | a1 b1 c1    |  |  | none",
        "a new bus first   | a-x-1 b-x-1 c-x-1       | a1* b1         | a1 b1       |  |  | a1* b1 c1",
        "DOWN, not gone    | a-x-1-down b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | b1 c1 d1 |  |  | none",
        "gone              | a-x-1-down b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | b1 c1 d1 |  | a | a1 b1* c1* d1*",
        "gone, and removed | b-x-1 c-x-1 d-x-1       | a1* b1* c1* d1 | b1 c1 d1    |  |  | b1* c1* d1*",
        "gone, none else   | a-x-1-down b-x-1 c-x-1  | a1* b1* c1*    | b1 c1       |  | a | none",
        "gone, one behind  | a-x-1-down b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | b1 c1   |  | a | none",
        "gone, one is DOWN | a-x-1-down b-x-1 c-x-1 d-x-1-down | a1* b1* c1* d1 | b1 c1 d1 |  | a | none",
        "gone, zones       | a-x-1-down b-x-1 c-y-1 d-y-1 e-z-1 | a1* b1* c1* d1 e1 | b1 c1 d1 e1 |  | a | a1 b1* c1* d1 e1*",
        "gone, but UP      | a-x-1 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | b1 c1 d1    |  | a | none",
        "without a majority of what is committed | a-x-1-down b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | d1 |  | a | none",
        "two are gone      | a-x-1-down b-x-1-down c-x-1 d-x-1 e-x-1 | a1* b1* c1* d1 e1 | c1 d1 e1 |  | a b | a1 b1* c1* d1* e1",
        "other files       | a-x-2 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | b1 c1 d1    |  |  | a2 b1* c1* d1*",
        "its own new files | a-x-2 b-x-1 c-x-1       | a1* b1* c1*    | b1 c1 a2    |  |  | a2* b1* c1*",
        "these are behind  | a-x-2 b-x-1 c-x-1       | a1* b1* c1*    | a1 b1 c1    |  |  | none",
        "no files          | a-x-0 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | b1 c1 d1    |  |  | b1* c1* d1*",
        "a vote is moving  | a-x-1-down b-x-1 c-x-1 d-x-1 e-x-1 | a1 b1* c1* d1* e1 | b1 c1 d1 e1 | a1 b1 c1 | a | none",
        "it has not arrived | a-x-1-down b-x-1 c-x-1 d-x-1-down e-x-1 | a1 b1* c1* d1* e1 | b1 c1 e1 | a1 b1 c1 | a | a1 b1* c1* d1 e1*",
        "and goes back     | a-x-1 b-x-1 c-x-1 d-x-1-down | a1 b1* c1* d1* | a1 b1 c1 | a1 b1 c1 |  | a1* b1* c1* d1",
        "no second one     | a-x-1-down b-x-1-down c-x-1 d-x-1 e-x-1 | a1 b1* c1* d1* e1 | c1 d1 e1 | a1 b1 c1 | a b | none",
        "growing, one is DOWN | a-x-1 b-x-1-down c-x-1 d-x-1 | a1* b1* c1* d1 | a1 c1 d1 | a1 c1 |  | a1* b1 c1* d1*",
        "five, one is gone | a-x-1 b-x-1 c-x-1 d-x-1 f-x-1 | a1* b1* c1* d1* e1* f1 | a1 b1 c1 d1 f1 |  |  | a1* b1* c1* d1* f1*",
      })
  void theVotes(
      String name,
      String buses,
      String replicas,
      String caughtUp,
      @Nullable String voters,
      @Nullable String gone,
      String expected) {
    RegistryState state = withShard(scene(buses).state, replicas);
    ShardInfo shard = shard(state);
    ShardCommand.Place next =
        ShardPlacement.next(state.snapshot(), shard, condition(shard, caughtUp, voters, gone));
    assertThat(next == null ? "none" : shown(next.replicas())).isEqualTo(expected);
    if (next != null) {
      Scene scene = new Scene();
      scene.state = state;
      assertThat(scene.apply(next)).isInstanceOf(CommandResult.ShardPlaced.class);
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "a listener        | a-x-1 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | a1 b1 c1 d1 |  | d | done",
        "a voter           | a-x-1 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | a1 b1 c1 d1 |  | b | a1* b1 c1* d1*",
        "the only one      | a-x-1 b-x-1             | a1* b1         | a1 b1       |  | a | a1 b1*",
        "a vote is moving  | a-x-1 b-x-1 c-x-1 d-x-1 | a1 b1* c1* d1* | a1 b1 c1 d1 | a1 b1 c1 | a | waits: a vote is on its way",
        "it has moved      | a-x-1 b-x-1 c-x-1 d-x-1 | a1 b1* c1* d1* | a1 b1 c1 d1 |  | a | done",
        "none for it       | a-x-1 b-x-1 c-x-1       | a1* b1* c1*    | a1 b1 c1    |  | b | refused: no other bus can",
        "none that is not behind | a-x-1 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | a1 b1 c1 |  | b | refused: no other bus can",
        "no replica        | a-x-1 b-x-1 c-x-1 d-x-0 | a1* b1* c1*    | a1 b1 c1    |  | d | refused: bus d has no replica",
      })
  void aVoteThatAnOperatorMoves(
      String name,
      String buses,
      String replicas,
      String caughtUp,
      @Nullable String voters,
      String bus,
      String expected) {
    RegistryState state = withShard(scene(buses).state, replicas);
    ShardInfo shard = shard(state);
    assertThat(
            shown(
                ShardPlacement.moveVote(
                    state.snapshot(),
                    shard,
                    condition(shard, caughtUp, voters, null),
                    new BusId(bus),
                    false)))
        .startsWith(expected);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "a listener        | a-x-1 b-x-1 c-x-1 d-x-1-draining | a1* b1* c1* d1 | a1 b1 c1 d1 |  | d | a1* b1* c1*",
        "a listener DOWN   | a-x-1 b-x-1 c-x-1 d-x-1-down | a1* b1* c1* d1 | a1 b1 c1 d1 |  | d | a1* b1* c1*",
        "it is UP          | a-x-1 b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | a1 b1 c1 d1 |  | d | waits: bus d is UP",
        "a voter           | a-x-1-draining b-x-1 c-x-1 d-x-1 | a1* b1* c1* d1 | a1 b1 c1 d1 |  | a | a1 b1* c1* d1*",
        "it still votes    | a-x-1-draining b-x-1 c-x-1 d-x-1 | a1 b1* c1* d1* | a1 b1 c1 d1 | a1 b1 c1 | a | waits: a vote is on its way",
        "it votes no more  | a-x-1-draining b-x-1 c-x-1 d-x-1 | a1 b1* c1* d1* | a1 b1 c1 d1 |  | a | b1* c1* d1*",
        "it is named no more | a-x-1-draining b-x-1 c-x-1 d-x-1 | b1* c1* d1* | b1 c1 d1 |  | a | done",
        "one of three      | a-x-1 b-x-1 c-x-1-draining | a1* b1* c1*    | a1 b1 c1    |  | c | refused: without bus c the journals have 2 replicas",
        "the others are behind | a-x-1 b-x-1 c-x-1 d-x-1-draining | a1* b1* c1* d1 | a1 b1 d1 |  | d | refused: without bus d the journals have 2 replicas",
        "another one is DOWN | a-x-1 b-x-1 c-x-1-down d-x-1-draining | a1* b1* c1* d1 | a1 b1 c1 d1 |  | d | refused: without bus d the journals have 2 replicas",
        "one of two        | a-x-1-draining b-x-1    | a1* b1         | a1 b1       |  | a | a1 b1*",
        "the last one      | a-x-1-draining          | a1*            | a1          |  | a | done",
        "the other is DOWN | a-x-1-draining b-x-1-down | a1* b1       | a1 b1       |  | a | refused: without bus a the journals have 0 replicas",
      })
  void aReplicaThatAnOperatorRemoves(
      String name,
      String buses,
      String replicas,
      String caughtUp,
      @Nullable String voters,
      String bus,
      String expected) {
    RegistryState state = withShard(scene(buses).state, replicas);
    ShardInfo shard = shard(state);
    assertThat(
            shown(
                ShardPlacement.remove(
                    state.snapshot(),
                    shard,
                    condition(shard, caughtUp, voters, null),
                    new BusId(bus))))
        .startsWith(expected);
  }

  @Test
  void aBusIsAwayWhenItsLeaseHasRunOutForLong() {
    Scene scene = scene("a-x-1 b-x-1-down c-x-1");
    RegistryState state = withShard(scene.state, "a1* b1 c1");
    long end =
        Objects.requireNonNull(state.snapshot().bus(new BusId("b"))).lease().expiresAtMillis();
    long now = state.snapshot().timeMillis();
    assertThat(ShardCondition.away(state.snapshot(), shard(state), now - end))
        .containsExactly(new BusId("b"));
    assertThat(ShardCondition.away(state.snapshot(), shard(state), now - end + 1)).isEmpty();
  }

  private static ShardInfo shard(RegistryState state) {
    return Objects.requireNonNull(state.snapshot().shard(1));
  }

  private static ShardCondition condition(
      ShardInfo shard, String caughtUp, @Nullable String voters, @Nullable String gone) {
    return new ShardCondition(
        voters == null
            ? shard.voters().stream().map(ReplicaId::of).collect(Collectors.toSet())
            : ids(voters),
        ids(caughtUp),
        gone == null
            ? Set.of()
            : Stream.of(gone.split(" ", -1)).map(BusId::new).collect(Collectors.toSet()));
  }

  private static Set<ReplicaId> ids(String replicas) {
    return Stream.of(replicas.split(" ", -1))
        .map(each -> new ReplicaId(new BusId(each.substring(0, 1)), each.charAt(1) - '0'))
        .collect(Collectors.toSet());
  }

  private static String shown(PlacementStep step) {
    ShardCommand.Place place = step.place();
    return step.refusal() != null
        ? "refused: " + step.refusal()
        : place != null
            ? shown(place.replicas())
            : step.done() ? "done" : "waits: " + step.waitsFor();
  }

  private static String shown(List<ShardReplica> replicas) {
    return replicas.stream()
        .map(each -> each.bus() + "" + each.generation() + (each.voter() ? "*" : ""))
        .collect(Collectors.joining(" "));
  }

  @Test
  void aShardHasABoundedNumberOfReplicas() {
    Scene scene = new Scene();
    for (int i = 0; i < 70; i++) {
      scene.bus("b" + (10 + i), "z", 1, BusState.UP);
    }
    ShardCommand.Place first = ShardPlacement.next(scene.state.snapshot(), 3);
    assertThat(first).isNotNull();
    assertThat(first.replicas()).hasSize(ShardInfo.MAX_REPLICAS);
    assertThat(scene.apply(first)).isInstanceOf(CommandResult.ShardPlaced.class);
    assertThat(ShardPlacement.next(scene.state.snapshot(), 3)).isNull();
    scene.remove("b20");
    ShardCommand.Place next = ShardPlacement.next(scene.state.snapshot(), 3);
    assertThat(next).isNotNull();
    assertThat(next.replicas())
        .hasSize(ShardInfo.MAX_REPLICAS)
        .contains(new ShardReplica(new BusId("b74"), 1, false));
    assertThat(scene.apply(next)).isInstanceOf(CommandResult.ShardPlaced.class);
  }

  private static Scene scene(@Nullable String buses) {
    Scene scene = new Scene();
    for (String bus : buses == null ? List.<String>of() : List.of(buses.split(" ", -1))) {
      String[] parts = bus.split("-", -1);
      scene.bus(
          parts[0],
          parts[1],
          Integer.parseInt(parts[2]),
          parts.length < 4 ? BusState.UP : BusState.valueOf(parts[3].toUpperCase(Locale.ROOT)));
    }
    return scene;
  }

  private static RegistryState withShard(RegistryState state, String replicas) {
    List<ShardReplica> list = new ArrayList<>();
    for (String replica : replicas.split(" ", -1)) {
      list.add(
          new ShardReplica(
              new BusId(replica.substring(0, 1)), replica.charAt(1) - '0', replica.endsWith("*")));
    }
    RegistryImage image = state.image();
    return RegistryState.restore(
        new RegistryImage(
            image.limits(),
            image.version(),
            image.timeMillis(),
            image.nextNumber(),
            image.buses(),
            image.topics(),
            image.revocations(),
            List.of(new ShardInfo(1, image.version(), list)),
            image.young(),
            image.old(),
            image.forgottenUpTo(),
            image.oldUpTo()));
  }

  /** Returns the next placement, which the state machine has to accept and leave alone then. */
  private static String next(RegistryState state) {
    ShardCommand.Place next = ShardPlacement.next(state.snapshot(), 1);
    if (next == null) {
      return "none";
    }
    Scene scene = new Scene();
    scene.state = state;
    assertThat(scene.apply(next)).isInstanceOf(CommandResult.ShardPlaced.class);
    assertThat(ShardPlacement.next(scene.state.snapshot(), 1)).isNull();
    return shown(next.replicas());
  }
}
