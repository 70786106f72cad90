package io.eventbus.journal.ratis;

import io.eventbus.base.StageFailures;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.RaftMembers;
import io.eventbus.raft.repair.AbortedReconfiguration;
import io.eventbus.raft.repair.VoterChanges;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes of the members of a shard, at its leader and one at a time. Any thread. */
final class MemberChanges {
  private static final Logger LOG = LoggerFactory.getLogger(MemberChanges.class);

  /** Time after which a caller is told that the outcome is not known. */
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  private final ShardOptions options;
  private final ShardRaft raft;
  private final ShardNetwork network;
  private final ShardGate gate;
  private final AbortedReconfiguration aborted;
  private final AtomicBoolean changing = new AtomicBoolean();

  MemberChanges(ShardOptions options, ShardRaft raft, ShardNetwork network, ShardGate gate) {
    this.options = options;
    this.raft = raft;
    this.network = network;
    this.gate = gate;
    aborted = new AbortedReconfiguration(raft.group());
  }

  /** Group whose changes end soon. */
  private final class Members implements VoterChanges.Group {
    @Override
    public RaftMembers members() {
      return raft.group().members();
    }

    @Override
    public CompletableFuture<Void> change(RaftMembers current, RaftMembers next) {
      LOG.info(
          "{}: members: from now on vote {}, and follow {}",
          options.shown(),
          next.voterIds(),
          next.listenerIds());
      CompletableFuture<Void> changed = raft.group().change(current, next);
      // Ratis looks whether a member has caught up when that gets an entry.
      var unused = gate.confirm();
      return changed;
    }

    @Override
    public Map<String, Long> followerSilenceMillis() {
      return raft.group().followerSilenceMillis();
    }
  }

  /** Does what {@link ShardJournals#changeMembers} says. */
  CompletableFuture<Void> change(List<ShardMember> members) {
    RatisGroup group = raft.group();
    if (!group.isLeaderReady()) {
      return failed(group.leader() + " leads (expected: " + options.member() + ")", null);
    }
    if (!changing.compareAndSet(false, true)) {
      return failed("a change is under way (expected: none)", null);
    }
    members.forEach(member -> network.learn(member.id(), member.socketAddress()));
    CompletableFuture<Void> done =
        new MemberChange(new Members(), withOwnVote(members))
            .apply()
            .thenCompose(nothing -> votes(members) ? completed() : handOver())
            .whenComplete((nothing, error) -> changing.set(false));
    return done.copy()
        .orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            error -> failed("not changed: " + StageFailures.unwrap(error), error));
  }

  private static CompletableFuture<Void> completed() {
    return CompletableFuture.completedFuture(null);
  }

  private boolean votes(List<ShardMember> members) {
    return members.stream()
        .anyMatch(member -> member.voter() && member.id().equals(options.member()));
  }

  /** Returns the members with a vote of this one, without which it cannot lead. */
  private List<ShardMember> withOwnVote(List<ShardMember> members) {
    if (votes(members)) {
      return members;
    }
    List<ShardMember> kept = new ArrayList<>();
    members.stream().filter(member -> !member.id().equals(options.member())).forEach(kept::add);
    String address = raft.group().members().address(options.member());
    kept.add(new ShardMember(options.member(), address, true));
    return kept;
  }

  private CompletableFuture<Void> handOver() {
    return raft.handOver(options)
        .thenCompose(
            next ->
                CompletableFuture.failedFuture(
                    new IOException(
                        options.member()
                            + " leads, and gives up its vote: "
                            + (next == null ? "no other voter is present" : next + " leads now")
                            + " (expected: that another one leads)")));
  }

  private <T> CompletableFuture<T> failed(String problem, @Nullable Throwable cause) {
    return CompletableFuture.failedFuture(
        new JournalsUnavailableException(options.shown() + ": members: " + problem, cause));
  }

  /**
   * Ends a leadership that goes on sending to a member that was taken out. On one thread, a few
   * times a second; does not wait.
   */
  void look() {
    if (!raft.group().isLeaderReady()) {
      aborted.reset();
    } else if (aborted.endsLeadership()) {
      LOG.debug("{}: the leadership ends", options.shown());
    }
  }
}
