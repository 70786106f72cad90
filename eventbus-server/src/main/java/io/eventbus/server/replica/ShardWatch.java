package io.eventbus.server.replica;

import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.advisory.Advisory.ReplicaChange;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Comparison of a shard with what it was at the look before: who leads, who votes and follows, and
 * who is behind. Only one bus tells each change: the one that leads, or no longer does; all tell
 * that they hear of no leader. For one thread.
 */
final class ShardWatch {
  /** Time without a leader after which it is told: an election takes less. */
  static final long LEADERLESS_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Time for which a replica has to be behind until it is told. */
  static final long BEHIND_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String bus;
  private final int shard;
  private final Consumer<Advisory> advisories;
  private final LongSupplier nanoTime;

  private @Nullable String leader;
  private @Nullable Long leaderlessSince;
  private boolean leaderlessTold;
  private @Nullable Placement placement;
  private final Map<String, Long> behindSince = new HashMap<>();
  private final Set<String> behindTold = new HashSet<>();

  private record Placement(List<String> voters, List<String> followers) {}

  /**
   * Creates a watch.
   *
   * @param bus this bus
   */
  ShardWatch(String bus, int shard, Consumer<Advisory> advisories, LongSupplier nanoTime) {
    this.bus = bus;
    this.shard = shard;
    this.advisories = advisories;
    this.nanoTime = nanoTime;
  }

  /**
   * Looks for changes.
   *
   * @param status state of the shard; null while there is none
   */
  void look(@Nullable ShardStatus status) {
    if (status == null || status.copy() != null) {
      // The replica of this bus tells its own changes.
      return;
    }
    String now = status.leader() == null ? null : ShardMember.bus(status.leader());
    boolean leads = bus.equals(now);
    lookAtLeader(now, status.term());
    lookAtMembers(status, leads);
    if (leads) {
      status.members().stream()
          .filter(member -> !ShardMember.bus(member.id()).equals(bus))
          .forEach(this::lookAtReplica);
      Set<String> ids = new HashSet<>();
      status.members().forEach(member -> ids.add(member.id()));
      behindSince.keySet().retainAll(ids);
      behindTold.retainAll(ids);
    } else {
      behindSince.clear();
      behindTold.clear();
    }
  }

  private void lookAtLeader(@Nullable String now, long term) {
    long nanos = nanoTime.getAsLong();
    if (now == null) {
      Long since = leaderlessSince;
      if (since == null) {
        leaderlessSince = nanos;
      } else if (!leaderlessTold && nanos - since >= LEADERLESS_NANOS) {
        leaderlessTold = true;
        advisories.accept(new Advisory.ShardLeaderChanged(shard, null, leader, term));
      }
      return;
    }
    leaderlessSince = null;
    String before = leaderlessTold ? null : leader;
    if (!now.equals(before) && (leaderlessTold || now.equals(bus) || bus.equals(before))) {
      advisories.accept(new Advisory.ShardLeaderChanged(shard, now, before, term));
    }
    leader = now;
    leaderlessTold = false;
  }

  private void lookAtMembers(ShardStatus status, boolean leads) {
    Placement now = new Placement(ids(status, true), ids(status, false));
    if (now.voters.isEmpty()) {
      return;
    }
    if (leads && placement != null && !now.equals(placement)) {
      advisories.accept(new Advisory.ShardMembersChanged(shard, now.voters, now.followers));
    }
    placement = now;
  }

  private static List<String> ids(ShardStatus status, boolean voters) {
    return status.members().stream()
        .filter(member -> member.voter() == voters)
        .map(ShardStatus.Member::id)
        .sorted()
        .toList();
  }

  private void lookAtReplica(ShardStatus.Member member) {
    String id = member.id();
    if (member.behind() < 0) {
      // Not heard of: the registry tells of its bus.
      return;
    }
    if (member.behind() <= PlacementDuty.MAX_BEHIND && !member.needsCopy()) {
      behindSince.remove(id);
      if (behindTold.remove(id)) {
        tell(id, ReplicaChange.CAUGHT_UP, "");
      }
      return;
    }
    long now = nanoTime.getAsLong();
    behindSince.putIfAbsent(id, now);
    if ((member.needsCopy() || now - Objects.requireNonNull(behindSince.get(id)) >= BEHIND_NANOS)
        && behindTold.add(id)) {
      tell(
          id,
          ReplicaChange.BEHIND,
          member.needsCopy()
              ? "it needs a copy"
              : "it lacks " + member.behind() + " committed entries");
    }
  }

  private void tell(String id, ReplicaChange change, String reason) {
    advisories.accept(new Advisory.ReplicaChanged(shard, ShardMember.bus(id), change, reason));
  }
}
