package io.eventbus.registry.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/** Random lives of buses, with every placement carried out. */
class ShardPlacementProperties {

  @Property(tries = 300)
  void placementsAreAcceptedAndSettleAtOnce(@ForAll long seed) {
    World world = new World(seed);
    for (int i = 0; i < 100; i++) {
      world.event();
      world.place();
    }
  }

  private static final class World {
    final Random random;
    final Scene scene = new Scene();

    World(long seed) {
      this.random = new Random(seed);
    }

    void event() {
      String bus = "b" + random.nextInt(7);
      String zone = "z" + random.nextInt(3);
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> scene.register(bus, zone, random.nextInt(4));
        case 3, 4 -> scene.change(bus, BusState.UP);
        case 5 -> scene.change(bus, random.nextBoolean() ? BusState.DRAINING : BusState.DOWN);
        case 6 -> scene.remove(bus);
        default -> replaceVoters();
      }
    }

    /** Places a shard by hand, with other voters, as an operator may do. */
    void replaceVoters() {
      ShardInfo shard = scene.state.snapshot().shard(1);
      List<ShardReplica> replicas = new ArrayList<>();
      int voters = List.of(1, 3, 5).get(random.nextInt(3));
      for (BusInfo bus : scene.state.snapshot().buses()) {
        int storage = bus.description().storage();
        if (storage > 0) {
          replicas.add(new ShardReplica(bus.id(), storage, replicas.size() < voters));
        }
      }
      if (shard != null && replicas.size() >= voters) {
        scene
            .apply(new ShardCommand.Place(1, shard.version(), replicas))
            .expect(CommandResult.ShardPlaced.class);
      }
    }

    void place() {
      RegistrySnapshot before = scene.state.snapshot();
      ShardInfo shard = before.shard(1);
      ShardCommand.Place next = ShardPlacement.next(before, 1);
      if (next != null) {
        check(shard, next);
        scene.apply(next).expect(CommandResult.ShardPlaced.class);
        assertThat(ShardPlacement.next(scene.state.snapshot(), 1)).as("settled").isNull();
      }
      checkListeners(scene.state.snapshot());
    }

    private static void check(@Nullable ShardInfo before, ShardCommand.Place next) {
      List<ShardReplica> voters = next.replicas().stream().filter(ShardReplica::voter).toList();
      if (before == null) {
        assertThat(voters.size()).isIn(1, 3);
      } else {
        assertThat(voters).isEqualTo(before.voters());
      }
      assertThat(next.replicas()).extracting(ShardReplica::bus).doesNotHaveDuplicates();
    }

    /** Checks that every bus that can hold a replica of an existing shard is one's. */
    private static void checkListeners(RegistrySnapshot registry) {
      ShardInfo shard = registry.shard(1);
      if (shard == null) {
        return;
      }
      for (BusInfo bus : registry.buses()) {
        int storage = bus.description().storage();
        if (bus.state() == BusState.UP && storage > 0) {
          assertThat(shard.replicas())
              .anyMatch(
                  replica ->
                      replica.bus().equals(bus.id())
                          && (replica.voter() || replica.generation() == storage));
        }
      }
      for (ShardReplica replica : shard.replicas()) {
        if (!replica.voter()) {
          BusInfo bus = Objects.requireNonNull(registry.bus(replica.bus()));
          assertThat(bus.state() == BusState.UP && bus.description().storage() == 0).isFalse();
        }
      }
    }
  }
}
