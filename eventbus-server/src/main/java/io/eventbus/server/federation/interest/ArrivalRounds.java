package io.eventbus.server.federation.interest;

import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.PeerFrames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Queries to all peers whether everything that they had sent has arrived. Callers that come while
 * rounds are under way share the next one. Confined to the first loop.
 */
final class ArrivalRounds {
  /** Rounds under way at a time. */
  private static final int MAX_ROUNDS = 4;

  private static final class Round {
    final long id;
    final long deadline;
    final Set<Peer> left;
    final List<Consumer<Boolean>> asking;

    Round(long id, long deadline, Collection<Peer> asked, List<Consumer<Boolean>> asking) {
      this.id = id;
      this.deadline = deadline;
      this.left = new LinkedHashSet<>(asked);
      this.asking = asking;
    }
  }

  private final Map<Long, Round> rounds = new HashMap<>();
  private List<Consumer<Boolean>> next = new ArrayList<>();
  private long last;

  /** Adds a caller to the next round; it gets false if the round was given up. */
  void add(Consumer<Boolean> done) {
    next.add(done);
  }

  /** Returns whether there are callers for another round, and room for it. */
  boolean mayBegin() {
    return !next.isEmpty() && rounds.size() < MAX_ROUNDS;
  }

  /** Returns whether no caller waits. */
  boolean isEmpty() {
    return rounds.isEmpty() && next.isEmpty();
  }

  /** Asks peers, those whose lanes are not up as soon as they are. */
  void begin(Collection<Peer> asked, long deadline) {
    Round round = new Round(++last, deadline, asked, next);
    next = new ArrayList<>();
    for (Peer peer : asked) {
      StreamConnection sender = peer.lane(0).sender();
      if (sender != null) {
        sender.write(PeerFrames.encode(PeerFrames.SYNC, round.id));
        sender.flush();
      }
    }
    rounds.put(round.id, round);
  }

  /** Writes the queries again that a peer has not answered; the caller flushes. */
  void askAgain(Peer peer, StreamConnection sender) {
    for (Round round : rounds.values()) {
      if (round.left.contains(peer)) {
        sender.write(PeerFrames.encode(PeerFrames.SYNC, round.id));
      }
    }
  }

  /** Records an answer; returns false if it belongs to no round under way. */
  boolean answered(long id, Peer peer) {
    Round round = rounds.get(id);
    if (round == null) {
      return false;
    }
    round.left.remove(peer);
    return true;
  }

  void forget(Peer peer) {
    rounds.values().forEach(round -> round.left.remove(peer));
  }

  /** Ends the rounds that all have answered, or that have timed out. */
  void end(Predicate<Peer> awaited, long now, List<Runnable> due) {
    for (Iterator<Round> all = rounds.values().iterator(); all.hasNext(); ) {
      Round round = all.next();
      round.left.removeIf(awaited.negate());
      boolean arrived = round.left.isEmpty();
      if (arrived || now - round.deadline >= 0) {
        all.remove();
        due.add(() -> round.asking.forEach(done -> done.accept(arrived)));
      }
    }
  }
}
