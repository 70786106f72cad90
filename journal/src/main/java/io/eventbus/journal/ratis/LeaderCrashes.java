package io.eventbus.journal.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.LeaderCrashDetector;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Replicas of a shard as the detector of a leader's end sees them: by the names of their buses, as
 * links know these.
 */
record LeaderCrashes(LinkNode node, PeerBook peers, RatisGroup group)
    implements LeaderCrashDetector.Links, LeaderCrashDetector.Raft {
  private String member(String bus) {
    for (String id : group.memberIds()) {
      if (ShardMember.bus(id).equals(bus)) {
        return id;
      }
    }
    return bus;
  }

  @Override
  public @Nullable String leader() {
    String leader = group.leader();
    return leader == null ? null : ShardMember.bus(leader);
  }

  @Override
  public List<String> voters() {
    return group.voters().stream().map(ShardMember::bus).toList();
  }

  @Override
  public long leaderSilenceMillis() {
    return group.leaderSilenceMillis();
  }

  @Override
  public CompletableFuture<Boolean> standForElection(String leader) {
    return group.standForElection(member(leader));
  }

  @Override
  public void watchEnds(Consumer<LinkPeer> watcher) {
    node.watchEnds(watcher);
  }

  @Override
  public void unwatchEnds(Consumer<LinkPeer> watcher) {
    node.unwatchEnds(watcher);
  }

  @Override
  public CompletableFuture<Boolean> isDeserted(String bus, Duration limit) {
    var address = peers.find(member(bus));
    return address == null
        ? CompletableFuture.completedFuture(false)
        : node.isDeserted(address, limit);
  }
}
