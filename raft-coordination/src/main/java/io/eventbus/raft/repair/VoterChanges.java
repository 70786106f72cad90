package io.eventbus.raft.repair;

import io.eventbus.base.StageFailures;
import io.eventbus.raft.members.RaftMembers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes voters and listeners in steps that Ratis gets right.
 *
 * <p>A change of votes becomes a row of changes of the configuration. Each alters one vote at most,
 * and gives no member another role, because of these faults:
 *
 * <ul>
 *   <li>For Ratis a listener that becomes a voter is a new peer, to which it would send everything
 *       twice.
 *   <li>A member that is elected while a voter is becoming a listener fails on counting it twice,
 *       at every election from then on.
 *   <li>A new leader ends a change that it finds under way at once, without the former voters'
 *       majority. That is safe only if every majority before meets every majority after.
 * </ul>
 *
 * <p>Related upstream: RATIS-2274, RATIS-2283. Remove when a voter may become a listener, and the
 * other way round, in one change, and a new leader waits for both majorities of a change that it
 * finds.
 */
public final class VoterChanges {
  private static final Logger log = LoggerFactory.getLogger(VoterChanges.class);

  /** Time within which a bus that is present has answered; heartbeats come many times in it. */
  private static final int PRESENT_MILLIS = 1_000;

  /** Group at its leader. */
  public interface Group {
    /** Returns the members now. */
    RaftMembers members();

    /** Changes the members, if they are the current ones. */
    CompletableFuture<Void> change(RaftMembers current, RaftMembers next);

    /** Returns the time since each of the others was heard from, in milliseconds. */
    Map<String, Long> followerSilenceMillis();
  }

  private VoterChanges() {}

  /**
   * Changes one vote or swaps two, without a change of leader. If this leader fails in between, the
   * next one begins from the members that there are then, and a bus that is no member any more asks
   * to be admitted again.
   *
   * @param out the member that loses its vote; null for none
   * @param in the listener that gets a vote; null for none
   */
  public static CompletableFuture<Void> apply(
      Group group, RaftMembers members, @Nullable String out, @Nullable String in) {
    List<RaftMembers> steps = steps(members, out, in);
    CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
    for (int i = 1; i < steps.size(); i++) {
      RaftMembers current = steps.get(i - 1);
      RaftMembers next = steps.get(i);
      done = done.thenCompose(nothing -> group.change(current, next));
    }
    return out == null || !isPresent(group, out)
        ? done
        : done.thenCompose(nothing -> listen(group, members, steps.get(steps.size() - 1), out));
  }

  /**
   * Returns whether a bus is present. Ratis would wait for an absent member, and no other could
   * join meanwhile.
   */
  private static boolean isPresent(Group group, String bus) {
    return group.followerSilenceMillis().getOrDefault(bus, Long.MAX_VALUE) < PRESENT_MILLIS;
  }

  /** Returns the members before, between and after the changes of votes. */
  static List<RaftMembers> steps(RaftMembers members, @Nullable String out, @Nullable String in) {
    List<RaftMembers> steps = new ArrayList<>(List.of(members));
    RaftMembers now = members;
    if (in != null) {
      now = members.without(in);
      steps.add(now);
      List<RaftPeer> voters = new ArrayList<>(now.voters());
      voters.addAll(find(members.listeners(), in));
      now = new RaftMembers(voters, now.listeners());
      steps.add(now);
    }
    if (out != null) {
      steps.add(now.without(out));
    }
    return steps;
  }

  /**
   * Makes a bus that has lost its vote a listener, if it is present; otherwise it asks when it is
   * back.
   */
  private static CompletableFuture<Void> listen(
      Group group, RaftMembers before, RaftMembers now, String bus) {
    List<RaftPeer> listeners = new ArrayList<>(now.listeners());
    listeners.addAll(find(before.voters(), bus));
    return group
        .change(now, new RaftMembers(now.voters(), listeners))
        .exceptionally(
            error -> {
              log.info(
                  "Bus {} does not listen yet: {}", bus, StageFailures.unwrap(error).toString());
              return null;
            });
  }

  private static List<RaftPeer> find(List<RaftPeer> peers, String bus) {
    return peers.stream().filter(p -> p.getId().toString().equals(bus)).toList();
  }

  /** Removes a bus from the members, if it is one. */
  public static CompletableFuture<Void> expel(Group group, String bus) {
    RaftMembers now = group.members();
    return now.contains(bus)
        ? group.change(now, now.without(bus))
        : CompletableFuture.completedFuture(null);
  }
}
