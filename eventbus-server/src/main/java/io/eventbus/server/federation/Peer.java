package io.eventbus.server.federation;

import io.eventbus.registry.BusId;
import io.eventbus.schema.Interest;
import io.eventbus.server.routing.RemoteBus;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Another bus: the lanes to it and those from it. What happens on the lanes of other loops than the
 * first is told to the {@link InterestExchange} on its loop. Any thread, but for what a lane's loop
 * owns.
 */
final class Peer implements RemoteBus {
  /** Lanes that another bus may open: so many event loops. */
  static final int MAX_INCOMING = 1024;

  private final BusId id;
  private final Federation federation;
  private final List<Lane> lanes;
  private final Map<Integer, IncomingLane> incoming = new ConcurrentHashMap<>();
  private final AtomicInteger up = new AtomicInteger();
  private final LongAdder lost = new LongAdder();
  private volatile @Nullable InetSocketAddress address;
  private volatile int number;

  Peer(BusId id, Federation federation) {
    this.id = id;
    this.federation = federation;
    this.lanes = federation.loops().stream().map(loop -> new Lane(loop, this)).toList();
  }

  BusId id() {
    return id;
  }

  Lane lane(int loop) {
    return lanes.get(loop);
  }

  @Nullable InetSocketAddress address() {
    return address;
  }

  void address(InetSocketAddress now) {
    InetSocketAddress before = address;
    address = now;
    if (!now.equals(before)) {
      federation.loops().forEach(loop -> loop.execute(loop::lookSoon));
    }
  }

  /** The number of its life, by which others are told to pass frames on to it. */
  int registryNumber() {
    return number;
  }

  void registryNumber(int now) {
    number = now;
  }

  boolean isNumbered(int asked) {
    return federation.peers().numbered(asked) == this;
  }

  int upLanes() {
    return up.get();
  }

  long queuedBytes() {
    return lanes.stream().mapToLong(Lane::bytes).sum();
  }

  void countLost(int events) {
    lost.add(events);
  }

  long lost() {
    return lost.sum();
  }

  /** On the loop that owns the lane. */
  IncomingLane incoming(int lane, LoopFederation loop) {
    if (lane >= MAX_INCOMING) {
      throw new IllegalArgumentException("lane: " + lane + " (expected: < " + MAX_INCOMING + ")");
    }
    return incoming.computeIfAbsent(lane, l -> new IncomingLane(l, loop, this));
  }

  void onLaneUp(Lane lane, LaneSender sender) {
    up.incrementAndGet();
    if (lane.number() == 0) {
      federation.exchange().onLaneUp(this, sender);
    }
  }

  void onLaneDown(Lane lane) {
    up.decrementAndGet();
    if (lane.number() == 0) {
      federation.exchange().onLaneDown(this);
    }
  }

  void onAbandoned(Lane lane) {
    if (lane.number() == 0) {
      federation.exchange().onAbandoned(this);
    }
  }

  void onApplied(Lane lane, long version) {
    if (lane.number() == 0) {
      federation.exchange().onApplied(this, version);
    }
  }

  void onWanted(Lane lane, LaneSender sender) {
    if (lane.number() == 0) {
      federation.exchange().onWanted(this, sender);
    }
  }

  void onSynced(Lane lane, long round) {
    if (lane.number() == 0) {
      federation.exchange().onSynced(this, round);
    }
  }

  /** What is held for it is lost, by all lanes that do not lead there. Any thread. */
  void giveUp(String why) {
    for (LoopFederation loop : federation.loops()) {
      loop.execute(
          () -> {
            Lane lane = lane(loop.number());
            if (!lane.isUp()) {
              lane.abandon(why);
            }
          });
    }
  }

  /** The other bus has ended in order: nothing is sent to it nor waited for any more. Any loop. */
  void onGoodbye(long instance) {
    for (LoopFederation loop : federation.loops()) {
      loop.execute(() -> lane(loop.number()).onGoodbye(instance));
    }
  }

  /**
   * The bus is heard of again: all lanes keep what is for it, connected or not.
   *
   * @param done called on the first loop
   */
  void revive(Runnable done) {
    AtomicInteger left = new AtomicInteger(lanes.size());
    for (LoopFederation loop : federation.loops()) {
      loop.execute(
          () -> {
            lane(loop.number()).revive();
            if (left.decrementAndGet() == 0) {
              federation.loop(0).execute(done);
            }
          });
    }
  }

  void onOpened(LaneReceiver receiver, int registryNumber) {
    federation.exchange().onOpened(this, receiver, registryNumber);
  }

  void onInterest(LaneReceiver receiver, Interest interest) {
    federation.exchange().onInterest(this, receiver, interest);
  }

  void onSync(LaneReceiver receiver, long round) {
    federation.exchange().onSync(this, receiver, round);
  }

  void onGone(LaneReceiver receiver) {
    federation.exchange().onGone(this, receiver);
  }

  @Override
  public String toString() {
    return "bus " + id;
  }
}
