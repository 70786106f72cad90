package io.eventbus.journal.ratis;

import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.RaftMembers;
import io.eventbus.raft.repair.VoterChanges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;

/**
 * Change of a group's members in steps, each of which alters one vote at most and begins from the
 * members that there are then. Votes are given before others are taken, and listeners come last: a
 * step waits for the member that it admits, and none must wait for a listener that is away.
 */
final class MemberChange {
  /** Steps for each member, old or new: admitted, given a vote, taken its vote, removed. */
  private static final int MAX_STEPS = 4;

  /** Time within which a bus that is present has answered; heartbeats come several times in it. */
  private static final int PRESENT_MILLIS = 1_000;

  private final VoterChanges.Group group;
  private final List<ShardMember> target;

  /** Step of a change. */
  private interface Step {
    CompletableFuture<Void> take();
  }

  /**
   * Creates a change.
   *
   * @param target the members after it
   */
  MemberChange(VoterChanges.Group group, List<ShardMember> target) {
    this.group = group;
    this.target = target;
  }

  /** Makes the change; fails with the first step that fails. */
  CompletableFuture<Void> apply() {
    RaftMembers now = group.members();
    int members = now.voters().size() + now.listeners().size() + target.size();
    return apply(MAX_STEPS * members);
  }

  private CompletableFuture<Void> apply(int left) {
    RaftMembers now = group.members();
    Step step = next(now);
    if (step == null) {
      return CompletableFuture.completedFuture(null);
    }
    return left == 0
        ? CompletableFuture.failedFuture(
            new IOException("members: " + now + " (expected: " + target + ")"))
        : step.take().thenCompose(nothing -> apply(left - 1));
  }

  /** Returns the next step; null if the members are those of the target. */
  private @Nullable Step next(RaftMembers now) {
    Step step = giveVote(now);
    if (step == null) {
      step = takeVote(now);
    }
    if (step == null) {
      step = remove(now);
    }
    return step == null ? admit(now) : step;
  }

  private @Nullable Step giveVote(RaftMembers now) {
    for (ShardMember member : target) {
      if (member.voter() && !now.voterIds().contains(member.id())) {
        return now.contains(member.id())
            ? () -> giveVote(now, member.id())
            : () -> group.change(now, with(now, member));
      }
    }
    return null;
  }

  /** Gives a listener a vote if it is present: it is removed first, and would not come back. */
  private CompletableFuture<Void> giveVote(RaftMembers now, String id) {
    long silence = group.followerSilenceMillis().getOrDefault(id, Long.MAX_VALUE);
    return silence < PRESENT_MILLIS
        ? VoterChanges.apply(group, now, null, id)
        : CompletableFuture.failedFuture(
            new IOException(id + ": away (expected: heard from within a second)"));
  }

  private @Nullable Step takeVote(RaftMembers now) {
    for (String id : now.voterIds()) {
      ShardMember member = find(id);
      if (member == null) {
        return () -> VoterChanges.expel(group, id);
      } else if (!member.voter()) {
        return () -> VoterChanges.apply(group, now, id, null);
      }
    }
    return null;
  }

  private @Nullable Step remove(RaftMembers now) {
    for (String id : now.listenerIds()) {
      if (find(id) == null) {
        return () -> VoterChanges.expel(group, id);
      }
    }
    return null;
  }

  private @Nullable Step admit(RaftMembers now) {
    for (ShardMember member : target) {
      if (!now.contains(member.id())) {
        return () -> group.change(now, with(now, member));
      }
    }
    return null;
  }

  private @Nullable ShardMember find(String id) {
    return target.stream().filter(member -> member.id().equals(id)).findFirst().orElse(null);
  }

  private static RaftMembers with(RaftMembers now, ShardMember listener) {
    List<RaftPeer> listeners = new ArrayList<>(now.listeners());
    listeners.add(RatisGroup.peer(listener.id(), listener.address()));
    return new RaftMembers(now.voters(), listeners);
  }
}
