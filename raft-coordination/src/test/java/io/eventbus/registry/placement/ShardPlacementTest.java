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
import java.util.stream.Collectors;
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
    return next.replicas().stream()
        .map(each -> each.bus() + "" + each.generation() + (each.voter() ? "*" : ""))
        .collect(Collectors.joining(" "));
  }
}
