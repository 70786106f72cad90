package io.eventbus.registry.ratis;

import io.eventbus.registry.membership.VoterPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;

/** How the leader's engine is told who votes, who listens and who goes. */
final class VoterChanges {
  private VoterChanges() {}

  /**
   * Carries out one step, without a change of leader. Who gets a vote is first taken out: for the
   * engine a listener that becomes a voter is a new peer, to which it would send everything twice.
   * Should this bus fail in between, the other one asks to be admitted again.
   */
  static CompletableFuture<Void> apply(Engine engine, Members members, VoterPolicy.Step step) {
    String in = step.in();
    if (in == null) {
      return engine.change(members, after(members, step));
    }
    Members without = members.without(in);
    return engine
        .change(members, without)
        .thenCompose(nothing -> engine.change(without, after(members, step)));
  }

  /** Takes a bus out of the members, if it is one. */
  static CompletableFuture<Void> expel(Engine engine, String bus) {
    Members now = engine.members();
    return now.contains(bus)
        ? engine.change(now, now.without(bus))
        : CompletableFuture.completedFuture(null);
  }

  private static Members after(Members members, VoterPolicy.Step step) {
    List<RaftPeer> voters = new ArrayList<>(members.voters());
    List<RaftPeer> listeners = new ArrayList<>(members.listeners());
    move(step.in(), listeners, voters);
    move(step.out(), voters, listeners);
    return new Members(voters, listeners);
  }

  private static void move(@Nullable String bus, List<RaftPeer> from, List<RaftPeer> to) {
    for (RaftPeer peer : List.copyOf(from)) {
      if (peer.getId().toString().equals(bus)) {
        from.remove(peer);
        to.add(peer);
      }
    }
  }
}
