package io.eventbus.server.federation.interest;

import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.federation.interest.PeerInterest.Outcome;
import io.eventbus.server.federation.lane.Lanes;
import io.eventbus.server.federation.lane.OneShotLatch;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.lane.PeerListener;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exchange of interest: announces the local interest to peers, applies theirs, and knows when all
 * of them have applied a version. All of it uses the lanes 0. Confined to the first loop.
 */
public final class InterestExchange implements PeerListener {
  private static final Logger LOG = LoggerFactory.getLogger(InterestExchange.class);

  /** Promise that all peers know a version. */
  private record Waiting(long version, long deadline, Consumer<Boolean> done) {}

  private final Lanes lanes;
  private final SubscriptionIndex index;
  private final OneShotLatch startLatch;
  private final LocalInterest local;
  private final BusServices services;
  private final Map<Peer, PeerStatus> statuses = new HashMap<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private final ArrivalRounds rounds = new ArrivalRounds();
  private final LongAdder mismatches = new LongAdder();
  private boolean registered;
  private boolean announcing;

  /**
   * Creates the exchange of a bus.
   *
   * @param index index for the subscriptions of peers
   */
  public InterestExchange(
      Lanes lanes,
      SubscriptionIndex index,
      LocalInterest local,
      OneShotLatch startLatch,
      BusServices services) {
    this.services = services;
    this.lanes = lanes;
    this.index = index;
    this.local = local;
    this.startLatch = startLatch;
  }

  /**
   * Returns the status of a peer, created on signs of its presence only: news of its end must not
   * make it known again.
   */
  private PeerStatus of(Peer peer) {
    return statuses.computeIfAbsent(
        peer,
        p ->
            new PeerStatus(
                new PeerInterest(
                    p,
                    index.accounts(),
                    lanes.config().filters(),
                    (account, service, serves) -> services.serves(p, account, service, serves))));
  }

  /** Sets the members of the cluster by the registry; this bus may be missing. */
  public void onMembers(Set<Peer> members, boolean selfRegistered) {
    registered |= selfRegistered;
    members.forEach(this::of);
    statuses.forEach((peer, status) -> status.member = members.contains(peer));
    recheck();
  }

  public boolean isMember(Peer peer) {
    PeerStatus status = statuses.get(peer);
    return status != null && status.member;
  }

  /** Forgets a peer for good. */
  public void onForgotten(Peer peer) {
    PeerStatus status = statuses.remove(peer);
    if (status != null) {
      status.interest.clear();
    }
    rounds.forget(peer);
    recheck();
  }

  /** Returns the number of known peers. */
  int known() {
    return statuses.size();
  }

  /** Returns the number of filters and services that a peer has announced. */
  int filtersOf(Peer peer) {
    PeerStatus status = statuses.get(peer);
    return status == null ? 0 : status.interest.size();
  }

  /** Returns whether this bus has the interest of all peers, so that its clients may publish. */
  private boolean isComplete() {
    return registered
        && statuses.entrySet().stream()
            .allMatch(s -> !s.getValue().isAwaited(s.getKey()) || s.getValue().interest.isKnown());
  }

  @Override
  public void onLaneUp(Peer peer, StreamConnection sender) {
    PeerStatus status = of(peer);
    resume(peer, status);
    sendWhole(status, sender);
    rounds.askAgain(peer, sender);
    sender.flush();
  }

  private void sendWhole(PeerStatus status, StreamConnection sender) {
    // Changes first: peers have not heard of them, and no later increment may precede the whole.
    announceChanges();
    status.wholeSent = true;
    local.whole().forEach(sender::write);
    sender.flush();
  }

  @Override
  public void onLaneDown(Peer peer) {
    PeerStatus status = statuses.get(peer);
    if (status != null) {
      status.wholeSent = false;
      status.applied = -1;
    }
  }

  @Override
  public void onAbandoned(Peer peer) {
    PeerStatus status = statuses.get(peer);
    if (status != null) {
      status.abandoned = true;
      status.resuming = false;
      status.interest.suspend();
    }
    services.abandoned(peer);
    recheck();
  }

  /**
   * Resumes a peer that is heard of: first all lanes keep frames for it again, then events are
   * routed there.
   */
  private void resume(Peer peer, PeerStatus status) {
    if (status.abandoned) {
      status.abandoned = false;
      status.resuming = true;
      peer.resume(() -> resumed(status));
    }
  }

  private void resumed(PeerStatus status) {
    if (!status.resuming) {
      return;
    }
    status.resuming = false;
    status.interest.resume();
    StreamConnection to = status.receiver;
    if (status.deferredApplied >= 0 && to != null) {
      applied(to, status.deferredApplied);
    }
    status.deferredApplied = -1;
    recheck();
  }

  private static void applied(StreamConnection to, long version) {
    to.write(PeerFrames.encode(PeerFrames.INTEREST_APPLIED, version));
    to.flush();
  }

  /** Announces changes of the local interest to all peers that know the whole. */
  void announceChanges() {
    List<byte[]> frames = local.increment();
    if (frames.isEmpty()) {
      return;
    }
    statuses.forEach(
        (peer, status) -> {
          StreamConnection sender = peer.lane(0).sender();
          if (status.wholeSent && sender != null) {
            frames.forEach(sender::write);
            sender.flush();
          }
        });
  }

  /** Schedules {@link #announceChanges} once for all calls in this turn of the loop. */
  public void announceSoon() {
    if (!announcing) {
      announcing = true;
      lanes.loop(0).execute(this::announce);
    }
  }

  private void announce() {
    announcing = false;
    announceChanges();
  }

  @Override
  public void onOpened(Peer peer, StreamConnection receiver, int registryNumber) {
    PeerStatus status = of(peer);
    status.receiver = receiver;
    if (status.instance != receiver.linkPeer().instance()) {
      // Another process, with other clients.
      status.instance = receiver.linkPeer().instance();
      status.interest.clear();
      status.deferredApplied = -1;
    }
    lanes.peers().claim(peer, registryNumber);
    resume(peer, status);
  }

  @Override
  public void onGone(Peer peer, StreamConnection receiver) {
    PeerStatus status = statuses.get(peer);
    if (status != null && status.receiver == receiver) {
      status.receiver = null;
    }
  }

  @Override
  public void onInterest(Peer peer, StreamConnection from, Interest interest) {
    PeerStatus status = of(peer);
    Outcome outcome = status.interest.take(interest);
    switch (outcome) {
      case INCOMPLETE -> {}
      case APPLIED -> {
        if (status.resuming) {
          status.deferredApplied = interest.getVersion();
        } else {
          applied(from, interest.getVersion());
        }
        recheck();
      }
      case MISMATCH -> {
        mismatches.increment();
        LOG.warn("The interest of bus {} is inconsistent; requesting it again", peer.id());
        from.write(PeerFrames.encode(PeerFrames.INTEREST_WANTED, interest.getVersion()));
        from.flush();
      }
    }
  }

  @Override
  public void onInterestRequested(Peer peer, StreamConnection sender) {
    sendWhole(of(peer), sender);
  }

  @Override
  public void onApplied(Peer peer, long version) {
    PeerStatus status = statuses.get(peer);
    if (status != null) {
      status.applied = version;
      recheck();
    }
  }

  @Override
  public void onSync(Peer peer, StreamConnection from, long round) {
    lanes
        .acknowledgement()
        .ofAll(
            List.of(peer),
            () ->
                lanes
                    .loop(0)
                    .execute(
                        () -> {
                          if (from.isOpen()) {
                            from.write(PeerFrames.encode(PeerFrames.SYNCED, round));
                            from.flush();
                          }
                        }));
  }

  @Override
  public void onSynced(Peer peer, long id) {
    if (rounds.answered(id, peer)) {
      recheck();
    }
  }

  /**
   * Waits until all peers know a version of the local interest.
   *
   * @param done called on this loop; gets false if the wait was given up
   */
  public void whenInterestPropagated(long version, Consumer<Boolean> done) {
    announceSoon();
    if (knownToAll() >= version) {
      done.accept(true);
    } else {
      waiting.add(new Waiting(version, deadline(), done));
      lanes.loop(0).checkSoon();
    }
  }

  /** Returns the newest version that all peers know; none before the peers are known. */
  private long knownToAll() {
    if (!startLatch.isOpen()) {
      return -1;
    }
    long min = Long.MAX_VALUE;
    for (Map.Entry<Peer, PeerStatus> s : statuses.entrySet()) {
      if (s.getValue().isAwaited(s.getKey())) {
        min = Math.min(min, s.getValue().applied);
      }
    }
    return min;
  }

  private long deadline() {
    return lanes.nanoTime() + lanes.config().syncTimeout().toNanos();
  }

  /**
   * Waits until all events that peers had sent to this bus are in the queues of its subscribers.
   *
   * @param done called on this loop; gets false if the wait was given up
   */
  public void whenInboundDelivered(Consumer<Boolean> done) {
    rounds.add(done);
    beginRound();
    lanes.loop(0).checkSoon();
  }

  private void beginRound() {
    if (rounds.mayBegin() && startLatch.isOpen()) {
      rounds.begin(statuses.keySet().stream().filter(this::isAwaited).toList(), deadline());
      recheck();
    }
  }

  private boolean isAwaited(Peer peer) {
    PeerStatus status = statuses.get(peer);
    return status != null && status.isAwaited(peer);
  }

  /** Ends the waits that are over. */
  private void recheck() {
    if (isComplete()) {
      startLatch.open();
    }
    long now = lanes.nanoTime();
    long knownToAll = knownToAll();
    List<Runnable> due = new ArrayList<>();
    waiting.removeIf(
        w -> {
          boolean known = knownToAll >= w.version();
          boolean isDue = known || now - w.deadline() >= 0;
          if (isDue) {
            due.add(() -> w.done().accept(known));
          }
          return isDue;
        });
    rounds.end(this::isAwaited, now, due);
    due.forEach(Runnable::run);
    beginRound();
  }

  /** Breaks the promises that have timed out. */
  public void onTick() {
    if (isWaitedFor()) {
      recheck();
    }
  }

  /** Returns whether a promise waits for peers. */
  public boolean isWaitedFor() {
    return !waiting.isEmpty() || !rounds.isEmpty();
  }

  /** Returns how often the interest of a peer was inconsistent; any thread. */
  public long mismatches() {
    return mismatches.sum();
  }
}
