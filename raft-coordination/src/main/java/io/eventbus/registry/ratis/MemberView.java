package io.eventbus.registry.ratis;

import io.eventbus.registry.membership.VoterPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How the cluster looks from this bus. Any thread. */
final class MemberView {
  private final String bus;
  private final Supplier<String> cluster;
  private final RegistryStateMachine machine;
  private final AppliedIndex applied;
  private final RegistryClock clock;

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
        ? "bus "
            + bus
            + " knows no leader; there is one when a majority of the voters "
            + engine.members().voterIds()
            + " reach each other"
        : "the leader is bus " + leader;
  }

  /** What the policy needs to know; null without a leader. */
  VoterPolicy.@Nullable Situation situation(Engine engine) {
    String leader = engine.leader();
    Engine.Members members = engine.members();
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
    Engine.Members members = engine.members();
    String leader = engine.leader();
    ClusterStatus.Role role =
        bus.equals(leader)
            ? ClusterStatus.Role.LEADER
            : members.voterIds().contains(bus)
                ? ClusterStatus.Role.VOTER
                : members.listenerIds().contains(bus)
                    ? ClusterStatus.Role.LISTENER
                    : ClusterStatus.Role.NONE;
    return new ClusterStatus(
        cluster.get(),
        bus,
        role,
        leader,
        engine.term(),
        members.voterIds(),
        members.listenerIds(),
        engine.isChanging(applied.index()),
        applied.index());
  }
}
