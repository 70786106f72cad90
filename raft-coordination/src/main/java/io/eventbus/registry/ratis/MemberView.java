package io.eventbus.registry.ratis;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.MemberRole;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.membership.VoterPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How the cluster looks from this bus. Any thread. */
final class MemberView {
  private final String bus;
  private final Supplier<String> cluster;
  private final RegistryStateMachine machine;
  private final AppliedIndex applied;
  private final RegistryClock clock;

  private final AtomicLong leaderChanges = new AtomicLong();

  /** The last one that was there. */
  private volatile String lastLeader = "";

  /** When this bus was last up to date, as {@link System#nanoTime()}. */
  private volatile long freshNanos = System.nanoTime();

  MemberView(
      String bus,
      Supplier<String> cluster,
      RegistryStateMachine machine,
      AppliedIndex applied,
      RegistryClock clock) {
    this.bus = bus;
    this.cluster = cluster;
    this.machine = machine;
    this.applied = applied;
    this.clock = clock;
  }

  /** This bus is up to date now. */
  void fresh() {
    freshNanos = System.nanoTime();
  }

  /** Counts changes of the leader; called on one thread. */
  void leader(@Nullable String now) {
    if (now != null && !now.equals(lastLeader)) {
      if (!lastLeader.isEmpty()) {
        leaderChanges.incrementAndGet();
      }
      lastLeader = now;
    }
  }

  /** For how long this bus may not have heard what the leader knows. */
  Duration silence(@Nullable Engine engine) {
    long millis = engine == null ? -1 : engine.leaderSilenceMillis();
    long now = System.nanoTime();
    if (millis >= 0) {
      freshNanos = now - TimeUnit.MILLISECONDS.toNanos(millis);
    }
    return Duration.ofNanos(Math.max(0, now - freshNanos));
  }

  /** What there is and what is missing, for people. */
  String describe(@Nullable Engine engine, @Nullable Joining way) {
    if (engine == null) {
      return "this bus waits for " + (way == null ? "its start" : way.waitsFor());
    }
    String leader = engine.leader();
    return leader == null
        ? "bus " + bus + " knows no leader" + whoElects(engine.members().voterIds())
        : "the leader is bus " + leader;
  }

  private static String whoElects(Collection<String> voters) {
    return voters.isEmpty()
        ? " and not yet who votes"
        : "; there is one when a majority of the voters " + voters + " reach each other";
  }

  /** What the policy needs to know; null without a leader. */
  VoterPolicy.@Nullable Situation situation(Engine engine) {
    String leader = engine.leader();
    Members members = engine.members();
    return leader == null
        ? null
        : new VoterPolicy.Situation(
            leader,
            members.voterIds(),
            members.listenerIds(),
            machine.state().snapshot(),
            clock.now());
  }

  ClusterStatus status(@Nullable Engine engine) {
    if (engine == null) {
      return new ClusterStatus(
          cluster.get(), bus, ClusterStatus.Role.NONE, null, -1, List.of(), List.of(), false, -1);
    }
    Members members = engine.members();
    String leader = engine.leader();
    return new ClusterStatus(
        cluster.get(),
        bus,
        ClusterStatus.Role.valueOf(role(members, leader, bus).name()),
        leader,
        engine.term(),
        members.voterIds(),
        members.listenerIds(),
        engine.isChanging(applied.index()),
        applied.index());
  }

  private static MemberRole role(Members members, @Nullable String leader, String bus) {
    if (bus.equals(leader)) {
      return MemberRole.LEADER;
    }
    if (members.voterIds().contains(bus)) {
      return MemberRole.VOTER;
    }
    return members.listenerIds().contains(bus) ? MemberRole.LISTENER : MemberRole.NONE;
  }

  /** The same for operators, with what this bus knows of itself. */
  RegistryStatus report(@Nullable Engine engine, @Nullable LeaderGate gate) {
    RegistrySnapshot snapshot = machine.state().snapshot();
    BusId self = new BusId(bus);
    BusInfo info = snapshot.bus(self);
    String leader = engine == null ? null : engine.leader();
    return new RegistryStatus(
        cluster.get(),
        self,
        engine == null ? MemberRole.NONE : role(engine.members(), leader, bus),
        leader == null ? null : new BusId(leader),
        engine == null ? -1 : engine.term(),
        leaderChanges.get(),
        engine != null && engine.isChanging(applied.index()),
        snapshot.version(),
        engine == null ? RegistryStatus.Log.NONE : engine.log(),
        info == null ? null : leaseAge(info),
        silence(engine),
        gate == null ? CommitLatency.NONE : gate.latencies().summary());
  }

  private Duration leaseAge(BusInfo info) {
    long renewedMillis = info.lease().expiresAtMillis() - info.lease().durationMillis();
    return Duration.ofMillis(Math.max(0, clock.now() - renewedMillis));
  }

  /** Members, and who is registered without being one. */
  List<ClusterMember> members(@Nullable Engine engine) {
    RegistrySnapshot snapshot = machine.state().snapshot();
    Members members = engine == null ? Members.NONE : engine.members();
    Map<String, Long> positions = engine == null ? Map.of() : engine.positions();
    String leader = engine == null ? null : engine.leader();
    TreeSet<String> ids = new TreeSet<>(members.voterIds());
    ids.addAll(members.listenerIds());
    snapshot.buses().forEach(known -> ids.add(known.id().value()));
    List<ClusterMember> all = new ArrayList<>();
    for (String id : ids) {
      BusInfo info = snapshot.bus(new BusId(id));
      boolean counts = info != null && info.state() != BusState.DOWN;
      all.add(
          new ClusterMember(
              new BusId(id),
              role(members, leader, id),
              members.address(id),
              info,
              positions.getOrDefault(id, -1L),
              info != null && counts
                  ? Math.max(0, info.lease().expiresAtMillis() - clock.now())
                  : 0));
    }
    return List.copyOf(all);
  }
}
