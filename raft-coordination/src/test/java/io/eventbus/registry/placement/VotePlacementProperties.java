package io.eventbus.registry.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Random lives of buses and a model of a Raft group, whose members follow the registry while it has
 * a majority. Any sequence of joins, failures, lost files and departures ends with three voters
 * that have all entries, where there are three buses; at no time do two votes change at once, or a
 * majority lack what is committed.
 */
class VotePlacementProperties {

  @Property(tries = 400)
  void theVotesFollowTheBuses(@ForAll long seed) {
    World world = new World(seed);
    world.begin();
    for (int i = 0; i < 150; i++) {
      world.event();
      if (world.random.nextBoolean()) {
        world.work();
      }
      world.check();
    }
    world.end();
  }

  private static final class World {
    final Random random;
    final Scene scene = new Scene();
    final Map<BusId, Integer> files = new HashMap<>();
    final Map<ReplicaId, Integer> entries = new HashMap<>();
    GroupMembers group = new GroupMembers(Set.of(), Set.of());
    int committed;
    int generations;

    World(long seed) {
      this.random = new Random(seed);
    }

    /** Places a shard at one or more buses. */
    void begin() {
      int buses = 1 + random.nextInt(4);
      for (int i = 0; i < buses; i++) {
        join(new BusId("b" + i));
      }
      ShardCommand.Place first =
          Objects.requireNonNull(ShardPlacement.next(scene.state.snapshot(), 1));
      scene.apply(first).expect(CommandResult.ShardPlaced.class);
      group =
          new GroupMembers(
              ids(first.replicas().stream().filter(ShardReplica::voter).toList()),
              ids(first.replicas().stream().filter(each -> !each.voter()).toList()));
      group.voters().forEach(each -> entries.put(each, 0));
      group.listeners().forEach(each -> entries.put(each, 0));
    }

    static Set<ReplicaId> ids(List<ShardReplica> replicas) {
      return replicas.stream().map(ReplicaId::of).collect(Collectors.toSet());
    }

    /** Starts a bus, with the files that it has, or new ones. */
    void join(BusId bus) {
      int storage = files.computeIfAbsent(bus, id -> ++generations);
      entries.putIfAbsent(new ReplicaId(bus, storage), -1);
      scene.register(bus.value(), "z" + bus.value().charAt(1) % 3, storage);
      scene.change(bus.value(), BusState.UP);
    }

    void event() {
      BusId bus = new BusId("b" + random.nextInt(7));
      BusInfo info = scene.state.snapshot().bus(bus);
      switch (random.nextInt(9)) {
        case 0, 1, 2 -> join(bus);
        case 3 -> scene.change(bus.value(), BusState.DOWN);
        case 4 -> {
          if (mayLose(bus)) {
            scene.change(bus.value(), BusState.DOWN);
            files.remove(bus);
          }
        }
        case 5 -> {
          if (info != null && info.state() == BusState.DOWN && mayLose(bus)) {
            scene.remove(bus.value());
          }
        }
        case 6 -> scene.change(bus.value(), BusState.DRAINING);
        case 7 -> operator(bus);
        default -> commit();
      }
    }

    /** Returns whether the group has a majority left, and all that is committed, without a bus. */
    boolean mayLose(BusId bus) {
      return group.voters().stream()
              .filter(each -> !each.bus().equals(bus))
              .filter(this::hasFiles)
              .count()
          > group.voters().size() / 2;
    }

    boolean hasFiles(ReplicaId replica) {
      return scene.state.snapshot().bus(replica.bus()) != null
          && Objects.equals(files.get(replica.bus()), replica.generation());
    }

    boolean isAlive(ReplicaId replica) {
      BusInfo info = scene.state.snapshot().bus(replica.bus());
      return info != null && info.state() != BusState.DOWN && hasFiles(replica);
    }

    boolean leads(Set<ReplicaId> voters) {
      return voters.stream().filter(this::isAlive).count() > voters.size() / 2;
    }

    /** Adds entries; a majority has them, and some others. */
    void commit() {
      if (!leads(group.voters())) {
        return;
      }
      committed++;
      int missing = group.voters().size() / 2 + 1;
      for (ReplicaId each : group.voters()) {
        if (isAlive(each) && (missing-- > 0 || random.nextBoolean())) {
          entries.put(each, committed);
        }
      }
      catchUp(random.nextInt(4));
    }

    void catchUp(int of) {
      for (ReplicaId each : List.copyOf(entries.keySet())) {
        boolean member = group.voters().contains(each) || group.listeners().contains(each);
        if (member && isAlive(each) && random.nextInt(4) < of) {
          entries.put(each, committed);
        }
      }
    }

    boolean hasAll(ReplicaId replica) {
      return entries.getOrDefault(replica, -1) == committed;
    }

    ShardCondition condition() {
      Set<ReplicaId> caughtUp =
          entries.keySet().stream().filter(this::hasAll).collect(Collectors.toSet());
      Set<BusId> gone = new HashSet<>();
      for (BusInfo bus : scene.state.snapshot().buses()) {
        if (bus.state() == BusState.DOWN && random.nextBoolean()) {
          gone.add(bus.id());
        }
      }
      return new ShardCondition(group.voters(), caughtUp, gone);
    }

    ShardInfo shard() {
      return Objects.requireNonNull(scene.state.snapshot().shard(1));
    }

    /** Does what the leader's bus does in a second. */
    void work() {
      if (!leads(group.voters())) {
        return;
      }
      GroupMembers next = group.next(scene.state.snapshot(), shard(), Set.of());
      if (leads(next.voters())) {
        change(next);
      }
      ShardCommand.Place place = ShardPlacement.next(scene.state.snapshot(), shard(), condition());
      if (place != null) {
        submit(place);
      }
    }

    void operator(BusId bus) {
      if (!leads(group.voters())) {
        return;
      }
      RegistrySnapshot registry = scene.state.snapshot();
      PlacementStep step =
          random.nextBoolean()
              ? ShardPlacement.moveVote(registry, shard(), condition(), bus, false)
              : ShardPlacement.remove(registry, shard(), condition(), bus);
      ShardCommand.Place place = step.place();
      if (place != null) {
        submit(place);
      }
    }

    void submit(ShardCommand.Place place) {
      Set<ReplicaId> before = ids(shard().voters());
      Set<ReplicaId> after = ids(place.replicas().stream().filter(ShardReplica::voter).toList());
      if (before.size() == 1 && after.size() == 3) {
        assertThat(after).containsAll(before);
      } else {
        assertThat(after).hasSameSizeAs(before);
        assertThat(after.stream().filter(each -> !before.contains(each)).count())
            .isLessThanOrEqualTo(1);
      }
      for (ReplicaId voter : after) {
        assertThat(before.contains(voter) || hasAll(voter)).as("%s has caught up", voter).isTrue();
      }
      scene.apply(place).expect(CommandResult.ShardPlaced.class);
    }

    void change(GroupMembers next) {
      Set<ReplicaId> in = new HashSet<>(next.voters());
      in.removeAll(group.voters());
      Set<ReplicaId> out = new HashSet<>(group.voters());
      out.removeAll(next.voters());
      assertThat(in.size() + out.size()).as("%s to %s", group, next).isLessThanOrEqualTo(1);
      assertThat(Collections.disjoint(next.voters(), next.listeners())).isTrue();
      // What a group does itself before it counts a vote.
      in.forEach(voter -> entries.put(voter, committed));
      group = next;
      if (!in.isEmpty() || !out.isEmpty()) {
        // Raft's change of members is an entry that a majority of the new ones has.
        committed++;
        group.voters().stream().filter(this::isAlive).forEach(each -> entries.put(each, committed));
      }
    }

    void check() {
      assertThat(group.voters().stream().filter(this::hasAll).count())
          .as("voters of %s with all %d entries: %s", group, committed, entries)
          .isGreaterThan(group.voters().size() / 2);
    }

    /** Lets all buses come back that can, and time pass. */
    void end() {
      for (BusInfo bus : scene.state.snapshot().buses()) {
        join(bus.id());
      }
      for (int i = 0; i < 40; i++) {
        catchUp(4);
        work();
        check();
      }
      RegistrySnapshot registry = scene.state.snapshot();
      Set<ReplicaId> all = new HashSet<>();
      for (BusInfo bus : registry.buses()) {
        all.add(new ReplicaId(bus.id(), bus.description().storage()));
      }
      assertThat(group.voters()).isEqualTo(ids(shard().voters()));
      if (all.size() >= 3) {
        assertThat(group.voters()).hasSize(3);
        assertThat(all).containsAll(group.voters());
        assertThat(ids(shard().replicas())).isEqualTo(all);
        all.removeAll(group.voters());
        assertThat(group.listeners()).isEqualTo(all);
        catchUp(4);
        assertThat(group.voters()).allMatch(this::hasAll);
      }
    }
  }
}
