package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.StreamConnection;
import io.eventbus.registry.BusId;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.subscription.RemoteBus;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Peer: another bus, with the lanes to it and from it. {@link PeerListener} gets the events of its
 * lanes 0. Any thread, except for state owned by a lane's loop.
 */
public final class Peer implements RemoteBus {
  /** Maximum lanes that a peer may open: one for each of its event loops. */
  static final int MAX_INCOMING = 1024;

  private final BusId id;
  private final Lanes all;
  private final List<Lane> lanes;
  private final Map<Integer, IncomingLane> incoming = new ConcurrentHashMap<>();
  private final AtomicInteger up = new AtomicInteger();
  private final LongAdder lost = new LongAdder();
  private volatile @Nullable InetSocketAddress address;
  private volatile int number;

  Peer(BusId id, Lanes all) {
    this.id = id;
    this.all = all;
    this.lanes = all.loops().stream().map(loop -> new Lane(loop, this)).toList();
  }

  public BusId id() {
    return id;
  }

  public Lane lane(int loop) {
    return lanes.get(loop);
  }

  public @Nullable InetSocketAddress address() {
    return address;
  }

  public void address(InetSocketAddress now) {
    InetSocketAddress before = address;
    address = now;
    if (!now.equals(before)) {
      all.loops().forEach(loop -> loop.execute(loop::checkSoon));
    }
  }

  /** Returns the number of its current life, by which relays are told to pass frames on to it. */
  public int registryNumber() {
    return number;
  }

  public void registryNumber(int now) {
    number = now;
  }

  public boolean isNumbered(int asked) {
    return all.peers().numbered(asked) == this;
  }

  public int upLanes() {
    return up.get();
  }

  public long queuedBytes() {
    return lanes.stream().mapToLong(Lane::bytes).sum();
  }

  void countLost(int events) {
    lost.add(events);
  }

  public long lost() {
    return lost.sum();
  }

  /** Returns the incoming lane with a number; on the loop that owns it. */
  IncomingLane incoming(int lane, LaneLoop loop) {
    if (lane >= MAX_INCOMING) {
      throw new IllegalArgumentException("lane: " + lane + " (expected: < " + MAX_INCOMING + ")");
    }
    return incoming.computeIfAbsent(lane, l -> new IncomingLane(l, loop, this));
  }

  void onLaneUp(Lane lane, StreamConnection sender) {
    up.incrementAndGet();
    if (lane.number() == 0) {
      all.listener().onLaneUp(this, sender);
    }
  }

  void onLaneDown(Lane lane) {
    up.decrementAndGet();
    if (lane.number() == 0) {
      all.listener().onLaneDown(this);
    }
  }

  void onAbandoned(Lane lane) {
    if (lane.number() == 0) {
      all.listener().onAbandoned(this);
    }
  }

  void onApplied(Lane lane, long version) {
    if (lane.number() == 0) {
      all.listener().onApplied(this, version);
    }
  }

  void onInterestRequested(Lane lane) {
    StreamConnection sender = lane.sender();
    if (lane.number() == 0 && sender != null) {
      all.listener().onInterestRequested(this, sender);
    }
  }

  void onSynced(Lane lane, long round) {
    if (lane.number() == 0) {
      all.listener().onSynced(this, round);
    }
  }

  /** Gives up the frames kept for it, on all lanes that do not lead there. Any thread. */
  public void giveUp(String reason) {
    for (LaneLoop loop : all.loops()) {
      loop.execute(
          () -> {
            Lane lane = lane(loop.number());
            if (!lane.isUp()) {
              lane.abandon(reason);
            }
          });
    }
  }

  /** Handles the ordered end of the peer: nothing is sent to it or awaited any more. Any loop. */
  void onGoodbye(long instance) {
    for (LaneLoop loop : all.loops()) {
      loop.execute(() -> lane(loop.number()).onGoodbye(instance));
    }
  }

  /** Resumes a peer that is heard of again: all lanes keep frames for it, connected or not. */
  public void resume(Runnable done) {
    AtomicInteger left = new AtomicInteger(lanes.size());
    for (LaneLoop loop : all.loops()) {
      loop.execute(
          () -> {
            lane(loop.number()).resume();
            if (left.decrementAndGet() == 0) {
              all.loop(0).execute(done);
            }
          });
    }
  }

  void onOpened(StreamConnection receiver, int registryNumber) {
    all.listener().onOpened(this, receiver, registryNumber);
  }

  void onInterest(StreamConnection receiver, Interest interest) {
    all.listener().onInterest(this, receiver, interest);
  }

  void onSync(StreamConnection receiver, long round) {
    all.listener().onSync(this, receiver, round);
  }

  void onGone(StreamConnection receiver) {
    all.listener().onGone(this, receiver);
  }

  @Override
  public String toString() {
    return "bus " + id;
  }
}
