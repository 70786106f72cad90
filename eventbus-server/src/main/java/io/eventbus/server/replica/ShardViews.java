package io.eventbus.server.replica;

import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.server.durable.ShardView;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Views of a shard for operators. Any thread. */
final class ShardViews {
  private ShardViews() {}

  /** Returns a shard as this bus knows it. */
  static ShardView of(int number, ShardStatus status) {
    List<ShardView.Member> members = new ArrayList<>();
    for (ShardStatus.Member member : status.members()) {
      members.add(
          new ShardView.Member(
              ShardMember.bus(member.id()),
              ShardMember.generation(member.id()),
              member.voter(),
              member.behind(),
              member.needsCopy()));
    }
    String leader = status.leader();
    return new ShardView(
        number,
        leader == null ? null : ShardMember.bus(leader),
        status.term(),
        status.committed(),
        status.applied(),
        status.ready(),
        members);
  }

  /** Returns what is lost if a bus stops now, for people; null for nothing. At any bus. */
  static @Nullable String warning(RegistrySnapshot snapshot, int number, String bus) {
    ShardInfo placed = snapshot.shard(number);
    if (placed == null
        || placed.voters().stream().noneMatch(voter -> voter.bus().value().equals(bus))) {
      return null;
    }
    int votes = placed.voters().size();
    long left =
        placed.voters().stream()
            .filter(voter -> !voter.bus().value().equals(bus))
            .filter(voter -> isThere(snapshot, voter))
            .count();
    int majority = votes / 2 + 1;
    return left >= majority
        ? null
        : "if bus "
            + bus
            + " stops now, durable topics wait: "
            + left
            + " of "
            + votes
            + " buses with a vote on the journals are there besides it (expected: "
            + majority
            + ")";
  }

  private static boolean isThere(RegistrySnapshot snapshot, ShardReplica replica) {
    BusInfo bus = snapshot.bus(replica.bus());
    return bus != null
        && bus.state() != BusState.DOWN
        && bus.description().storage() == replica.generation();
  }
}
