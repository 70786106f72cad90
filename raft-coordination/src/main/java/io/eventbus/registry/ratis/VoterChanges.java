package io.eventbus.registry.ratis;

import io.eventbus.registry.membership.VoterPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the leader's engine is told who votes, who listens and who goes.
 *
 * <p>A step becomes a row of changes. Each alters one vote at most, and gives no bus another role:
 *
 * <ul>
 *   <li>For the engine a listener that becomes a voter is a new peer, to which it would send
 *       everything twice.
 *   <li>A bus that is elected while a voter is becoming a listener fails on counting it twice, at
 *       every election from then on.
 *   <li>A new leader ends a change that it finds under way at once, without the former voters'
 *       majority. That is safe only if every majority before meets every majority after.
 * </ul>
 */
final class VoterChanges {
  private static final Logger log = LoggerFactory.getLogger(VoterChanges.class);

  /** A bus that has answered within this time is there; heartbeats come many times in it. */
  private static final int PRESENT_MILLIS = 1_000;

  private VoterChanges() {}

  /**
   * Carries out one step, without a change of leader. Should this bus fail in between, the policy
   * goes on from there, and a bus that is no member any more asks to be admitted again.
   */
  static CompletableFuture<Void> apply(Engine engine, Members members, VoterPolicy.Step step) {
    List<Members> row = row(members, step);
    CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
    for (int i = 1; i < row.size(); i++) {
      Members current = row.get(i - 1);
      Members next = row.get(i);
      done = done.thenCompose(nothing -> engine.change(current, next));
    }
    String out = step.out();
    return out == null || !isThere(engine, out)
        ? done
        : done.thenCompose(nothing -> listen(engine, members, row.get(row.size() - 1), out));
  }

  /** The engine would wait for a bus that is not there, and nobody could join meanwhile. */
  private static boolean isThere(Engine engine, String bus) {
    return engine.followerSilenceMillis().getOrDefault(bus, Long.MAX_VALUE) < PRESENT_MILLIS;
  }

  /** The members before, between and after the changes of votes. */
  static List<Members> row(Members members, VoterPolicy.Step step) {
    List<Members> row = new ArrayList<>(List.of(members));
    Members now = members;
    String in = step.in();
    if (in != null) {
      now = members.without(in);
      row.add(now);
      List<RaftPeer> voters = new ArrayList<>(now.voters());
      voters.addAll(find(members.listeners(), in));
      now = new Members(voters, now.listeners());
      row.add(now);
    }
    String out = step.out();
    if (out != null) {
      row.add(now.without(out));
    }
    return row;
  }

  /** A bus that has lost its vote listens, if it is there; otherwise it asks when it is back. */
  private static CompletableFuture<Void> listen(
      Engine engine, Members before, Members now, String bus) {
    List<RaftPeer> listeners = new ArrayList<>(now.listeners());
    listeners.addAll(find(before.voters(), bus));
    return engine
        .change(now, new Members(now.voters(), listeners))
        .exceptionally(
            error -> {
              log.info("Bus {} does not listen yet: {}", bus, Attempts.unwrap(error).toString());
              return null;
            });
  }

  private static List<RaftPeer> find(List<RaftPeer> peers, String bus) {
    return peers.stream().filter(p -> p.getId().toString().equals(bus)).toList();
  }

  /** Takes a bus out of the members, if it is one. */
  static CompletableFuture<Void> expel(Engine engine, String bus) {
    Members now = engine.members();
    return now.contains(bus)
        ? engine.change(now, now.without(bus))
        : CompletableFuture.completedFuture(null);
  }
}
