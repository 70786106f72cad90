package io.eventbus.server.federation;

import io.eventbus.protocol.PeerFrames;
import io.eventbus.schema.Interest;
import io.eventbus.server.federation.PeerInterest.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the other buses what this one's clients subscribe to, hears the same from them, and knows
 * when all of them have heard. All of it goes by the lanes 0. Confined to the first loop.
 */
final class InterestExchange {
  private static final Logger LOG = LoggerFactory.getLogger(InterestExchange.class);

  /** Rounds under way at a time; those who ask for more share the next. */
  private static final int MOST_ROUNDS = 4;

  /** Somebody who waits until all others know a version. */
  private record Waiting(long version, long deadline, Consumer<Boolean> done) {}

  /** A question to all others whether everything that they had sent has arrived. */
  private static final class Round {
    final long id;
    final long deadline;
    final Set<Peer> left = new LinkedHashSet<>();
    final List<Consumer<Boolean>> asking;

    Round(long id, long deadline, List<Consumer<Boolean>> asking) {
      this.id = id;
      this.deadline = deadline;
      this.asking = asking;
    }
  }

  private final Federation federation;
  private final LocalInterest local;
  private final Map<Peer, Standing> standings = new HashMap<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private final Map<Long, Round> rounds = new HashMap<>();
  private List<Consumer<Boolean>> nextRound = new ArrayList<>();
  private long lastRound;
  private boolean registered;
  private boolean telling;

  InterestExchange(Federation federation, LocalInterest local) {
    this.federation = federation;
    this.local = local;
  }

  private Standing of(Peer peer) {
    return standings.computeIfAbsent(
        peer,
        p -> new Standing(new PeerInterest(p, federation.index(), federation.config().filters())));
  }

  /** The registry says who belongs to the cluster now, this bus among them or not. */
  void onMembers(Set<Peer> members, boolean selfRegistered) {
    registered |= selfRegistered;
    members.forEach(this::of);
    standings.forEach((peer, standing) -> standing.member = members.contains(peer));
    recheck();
  }

  boolean isMember(Peer peer) {
    return of(peer).member;
  }

  /** A bus is forgotten for good. */
  void onForgotten(Peer peer) {
    Standing standing = standings.remove(peer);
    if (standing != null) {
      standing.interest.clear();
    }
    rounds.values().forEach(round -> round.left.remove(peer));
    recheck();
  }

  /** Whether everything that this bus has to know is known, so that its clients may publish. */
  private boolean isComplete() {
    return registered
        && standings.entrySet().stream()
            .allMatch(s -> !s.getValue().isAwaited(s.getKey()) || s.getValue().interest.isKnown());
  }

  void onLaneUp(Peer peer, LaneSender sender) {
    Standing standing = of(peer);
    takeBack(peer, standing);
    sendWhole(standing, sender);
    for (Round round : rounds.values()) {
      if (round.left.contains(peer)) {
        sender.write(PeerFrames.encode(PeerFrames.SYNC, round.id));
      }
    }
    sender.flush();
  }

  private void sendWhole(Standing standing, LaneSender sender) {
    // First what others have not heard either, so that no later increment is before the whole.
    tellChanges();
    standing.wholeSent = true;
    local.whole().forEach(sender::write);
    sender.flush();
  }

  void onLaneDown(Peer peer) {
    Standing standing = of(peer);
    standing.wholeSent = false;
    standing.applied = -1;
  }

  void onAbandoned(Peer peer) {
    Standing standing = of(peer);
    standing.abandoned = true;
    standing.returning = false;
    standing.interest.suspend();
    recheck();
  }

  /**
   * The bus is heard of: first all lanes keep what is for it again, then events are routed there.
   */
  private void takeBack(Peer peer, Standing standing) {
    if (standing.abandoned) {
      standing.abandoned = false;
      standing.returning = true;
      peer.revive(() -> takenBack(standing));
    }
  }

  private void takenBack(Standing standing) {
    if (!standing.returning) {
      return;
    }
    standing.returning = false;
    standing.interest.resume();
    LaneReceiver to = standing.receiver;
    if (standing.owed >= 0 && to != null) {
      applied(to, standing.owed);
    }
    standing.owed = -1;
    recheck();
  }

  private static void applied(LaneReceiver to, long version) {
    to.write(PeerFrames.encode(PeerFrames.INTEREST_APPLIED, version));
    to.flush();
  }

  /** Tells the changes of the local interest to all who know the whole. */
  void tellChanges() {
    List<byte[]> frames = local.increment();
    if (frames.isEmpty()) {
      return;
    }
    standings.forEach(
        (peer, standing) -> {
          LaneSender sender = peer.lane(0).sender();
          if (standing.wholeSent && sender != null) {
            frames.forEach(sender::write);
            sender.flush();
          }
        });
  }

  /** The same, once for all who ask in this turn of the loop. */
  void tellSoon() {
    if (!telling) {
      telling = true;
      federation.loop(0).execute(this::tell);
    }
  }

  private void tell() {
    telling = false;
    tellChanges();
  }

  /** The other bus has opened its lane 0. */
  void onOpened(Peer peer, LaneReceiver receiver, int registryNumber) {
    Standing standing = of(peer);
    standing.receiver = receiver;
    if (standing.instance != receiver.who().instance()) {
      // Another process, whose clients are others.
      standing.instance = receiver.who().instance();
      standing.interest.clear();
      standing.owed = -1;
    }
    federation.peers().claim(peer, registryNumber);
    takeBack(peer, standing);
  }

  void onGone(Peer peer, LaneReceiver receiver) {
    Standing standing = of(peer);
    if (standing.receiver == receiver) {
      standing.receiver = null;
    }
  }

  void onInterest(Peer peer, LaneReceiver from, Interest interest) {
    Standing standing = of(peer);
    Outcome outcome = standing.interest.take(interest);
    switch (outcome) {
      case INCOMPLETE -> {}
      case APPLIED -> {
        if (standing.returning) {
          standing.owed = interest.getVersion();
        } else {
          applied(from, interest.getVersion());
        }
        recheck();
      }
      case MISMATCH -> {
        federation.countMismatch();
        LOG.warn("What bus {} says of its subscriptions does not add up; asking again", peer.id());
        from.write(PeerFrames.encode(PeerFrames.INTEREST_WANTED, interest.getVersion()));
        from.flush();
      }
    }
  }

  void onWanted(Peer peer, LaneSender sender) {
    sendWhole(of(peer), sender);
  }

  void onApplied(Peer peer, long version) {
    Standing standing = of(peer);
    standing.applied = version;
    recheck();
  }

  /** The other bus wants to know when all that was sent to it has arrived. */
  void onSync(Peer peer, LaneReceiver from, long round) {
    federation
        .acknowledgement()
        .ofAll(
            List.of(peer),
            () ->
                federation
                    .loop(0)
                    .execute(
                        () -> {
                          if (from.isOpen()) {
                            from.write(PeerFrames.encode(PeerFrames.SYNCED, round));
                            from.flush();
                          }
                        }));
  }

  void onSynced(Peer peer, long id) {
    Round round = rounds.get(id);
    if (round != null) {
      round.left.remove(peer);
      recheck();
    }
  }

  /**
   * Waits until all others know a version of the local interest.
   *
   * @param done gets false if it was given up, on this loop
   */
  void whenKnown(long version, Consumer<Boolean> done) {
    tellSoon();
    if (knownToAll() >= version) {
      done.accept(true);
    } else {
      waiting.add(new Waiting(version, deadline(), done));
      federation.loop(0).lookSoon();
    }
  }

  /** The newest version that all others know; none before it is known who they are. */
  private long knownToAll() {
    if (!federation.startFence().isOpen()) {
      return -1;
    }
    long least = Long.MAX_VALUE;
    for (Map.Entry<Peer, Standing> s : standings.entrySet()) {
      if (s.getValue().isAwaited(s.getKey())) {
        least = Math.min(least, s.getValue().applied);
      }
    }
    return least;
  }

  private long deadline() {
    return federation.nanoTime() + federation.config().confirm().toNanos();
  }

  /**
   * Waits until all that others had sent to this bus is in the queues of its subscribers.
   *
   * @param done gets false if it was given up, on this loop
   */
  void whenArrived(Consumer<Boolean> done) {
    nextRound.add(done);
    beginRounds();
    federation.loop(0).lookSoon();
  }

  private void beginRounds() {
    if (!nextRound.isEmpty() && rounds.size() < MOST_ROUNDS && federation.startFence().isOpen()) {
      beginRound();
    }
  }

  private void beginRound() {
    Round round = new Round(++lastRound, deadline(), nextRound);
    nextRound = new ArrayList<>();
    standings.forEach(
        (peer, standing) -> {
          if (standing.isAwaited(peer)) {
            round.left.add(peer);
            LaneSender sender = peer.lane(0).sender();
            if (sender != null) {
              sender.write(PeerFrames.encode(PeerFrames.SYNC, round.id));
              sender.flush();
            }
          }
        });
    rounds.put(round.id, round);
    recheck();
  }

  /** Looks who need not wait any longer. */
  private void recheck() {
    if (isComplete()) {
      federation.startFence().open();
    }
    long now = federation.nanoTime();
    long knownToAll = knownToAll();
    List<Runnable> due = new ArrayList<>();
    for (Iterator<Waiting> all = waiting.iterator(); all.hasNext(); ) {
      Waiting w = all.next();
      boolean known = knownToAll >= w.version();
      if (known || now - w.deadline() >= 0) {
        all.remove();
        due.add(() -> w.done().accept(known));
      }
    }
    for (Iterator<Round> all = rounds.values().iterator(); all.hasNext(); ) {
      Round round = all.next();
      round.left.removeIf(
          peer -> {
            Standing standing = standings.get(peer);
            return standing == null || !standing.isAwaited(peer);
          });
      boolean arrived = round.left.isEmpty();
      if (arrived || now - round.deadline >= 0) {
        all.remove();
        due.add(() -> round.asking.forEach(done -> done.accept(arrived)));
      }
    }
    due.forEach(Runnable::run);
    beginRounds();
  }

  void onTick(long now) {
    if (isWaitedFor()) {
      recheck();
    }
    federation.onTick(now);
  }

  /** Whether somebody waits for other buses, and not for ever. */
  boolean isWaitedFor() {
    return !waiting.isEmpty() || !rounds.isEmpty() || !nextRound.isEmpty();
  }
}
