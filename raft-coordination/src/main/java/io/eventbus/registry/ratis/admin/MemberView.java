package io.eventbus.registry.ratis.admin;

import io.eventbus.raft.AppliedIndex;
import io.eventbus.raft.GroupLog;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.RaftMembers;
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
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Cluster as seen from this bus. Any thread. */
public final class MemberView {
  private final String bus;
  private final Supplier<String> cluster;
  private final Supplier<RegistrySnapshot> registry;
  private final AppliedIndex applied;
  private final LongSupplier clock;

  private final AtomicLong leaderChanges = new AtomicLong();

  /** Last leader that was known. */
  private volatile String lastLeader = "";

  /** Time when this bus was last up to date, as {@link System#nanoTime()}. */
  private volatile long freshNanos = System.nanoTime();

  /**
   * Creates the view of a bus.
   *
   * @param cluster the id of its cluster; empty for none
   * @param clock registry time, in milliseconds
   */
  public MemberView(
      String bus,
      Supplier<String> cluster,
      Supplier<RegistrySnapshot> registry,
      AppliedIndex applied,
      LongSupplier clock) {
    this.bus = bus;
    this.cluster = cluster;
    this.registry = registry;
    this.applied = applied;
    this.clock = clock;
  }

  /** Records that this bus is up to date now. */
  public void markUpToDate() {
    freshNanos = System.nanoTime();
  }

  /** Counts changes of the leader; called on one thread. */
  public void leader(@Nullable String now) {
    if (now != null && !now.equals(lastLeader)) {
      if (!lastLeader.isEmpty()) {
        leaderChanges.incrementAndGet();
      }
      lastLeader = now;
    }
  }

  /** Returns the maximum time for which this bus may not have heard what the leader knows. */
  public Duration silence(@Nullable RatisGroup group) {
    long millis = group == null ? -1 : group.leaderSilenceMillis();
    long now = System.nanoTime();
    if (millis >= 0) {
      freshNanos = now - TimeUnit.MILLISECONDS.toNanos(millis);
    }
    return Duration.ofNanos(Math.max(0, now - freshNanos));
  }

  /**
   * Describes the situation and the missing part, for people.
   *
   * @param waitsFor what this bus waits for as long as it does not run
   */
  public String describe(@Nullable RatisGroup group, String waitsFor) {
    if (group == null) {
      return "this bus waits for " + waitsFor;
    }
    String leader = group.leader();
    return leader == null
        ? "bus " + bus + " knows no leader" + election(group.members().voterIds())
        : "the leader is bus " + leader;
  }

  private static String election(Collection<String> voters) {
    return voters.isEmpty()
        ? " and not yet the voters"
        : "; there is one when a majority of the voters " + voters + " reach each other";
  }

  /** Returns the input of the policy; null without a leader. */
  public VoterPolicy.@Nullable Situation situation(RatisGroup group) {
    String leader = group.leader();
    RaftMembers members = group.members();
    return leader == null
        ? null
        : new VoterPolicy.Situation(
            leader, members.voterIds(), members.listenerIds(), registry.get(), clock.getAsLong());
  }

  /** Returns the role of this bus, the leader and the members. */
  public ClusterStatus status(@Nullable RatisGroup group) {
    if (group == null) {
      return new ClusterStatus(
          cluster.get(), bus, ClusterStatus.Role.NONE, null, -1, List.of(), List.of(), false, -1);
    }
    RaftMembers members = group.members();
    String leader = group.leader();
    return new ClusterStatus(
        cluster.get(),
        bus,
        ClusterStatus.Role.valueOf(role(members, leader, bus).name()),
        leader,
        group.term(),
        members.voterIds(),
        members.listenerIds(),
        group.isChanging(applied.index()),
        applied.index());
  }

  private static MemberRole role(RaftMembers members, @Nullable String leader, String bus) {
    if (bus.equals(leader)) {
      return MemberRole.LEADER;
    }
    if (members.voterIds().contains(bus)) {
      return MemberRole.VOTER;
    }
    return members.listenerIds().contains(bus) ? MemberRole.LISTENER : MemberRole.NONE;
  }

  /** Returns the status for operators, with what this bus knows of itself. */
  public RegistryStatus report(@Nullable RatisGroup group, CommitLatency latency) {
    RegistrySnapshot snapshot = registry.get();
    BusId self = new BusId(bus);
    BusInfo info = snapshot.bus(self);
    String leader = group == null ? null : group.leader();
    return new RegistryStatus(
        cluster.get(),
        self,
        group == null ? MemberRole.NONE : role(group.members(), leader, bus),
        leader == null ? null : new BusId(leader),
        group == null ? -1 : group.term(),
        leaderChanges.get(),
        group != null && group.isChanging(applied.index()),
        snapshot.version(),
        log(group),
        info == null ? null : leaseAge(info),
        silence(group),
        latency);
  }

  private static RegistryStatus.Log log(@Nullable RatisGroup group) {
    GroupLog log = group == null ? null : group.log();
    return log == null
        ? RegistryStatus.Log.NONE
        : new RegistryStatus.Log(
            log.committed(), log.applied(), log.snapshot(), log.entries(), log.bytes());
  }

  private Duration leaseAge(BusInfo info) {
    long renewedMillis = info.lease().expiresAtMillis() - info.lease().durationMillis();
    return Duration.ofMillis(Math.max(0, clock.getAsLong() - renewedMillis));
  }

  /** Returns members, and buses that are registered without being one. */
  public List<ClusterMember> members(@Nullable RatisGroup group) {
    RegistrySnapshot snapshot = registry.get();
    RaftMembers members = group == null ? RaftMembers.NONE : group.members();
    Map<String, Long> positions = group == null ? Map.of() : group.positions();
    String leader = group == null ? null : group.leader();
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
                  ? Math.max(0, info.lease().expiresAtMillis() - clock.getAsLong())
                  : 0));
    }
    return List.copyOf(all);
  }
}
