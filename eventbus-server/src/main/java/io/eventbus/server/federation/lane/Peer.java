package io.eventbus.server.federation.lane;

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
 * Another bus: the lanes to it and those from it. What happens on its lanes 0 is told to the {@link
 * PeerListener}. Any thread, but for what a lane's loop owns.
 */
public final class Peer implements RemoteBus {
  /** Lanes that another bus may open: so many event loops. */
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
      all.loops().forEach(loop -> loop.execute(loop::lookSoon));
    }
  }

  /** The number of its life, by which others are told to pass frames on to it. */
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

  /** On the loop that owns the lane. */
  IncomingLane incoming(int lane, LaneLoop loop) {
    if (lane >= MAX_INCOMING) {
      throw new IllegalArgumentException("lane: " + lane + " (expected: < " + MAX_INCOMING + ")");
    }
    return incoming.computeIfAbsent(lane, l -> new IncomingLane(l, loop, this));
  }

  void onLaneUp(Lane lane, LaneSender sender) {
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

  void onWanted(Lane lane, LaneSender sender) {
    if (lane.number() == 0) {
      all.listener().onWanted(this, sender);
    }
  }

  void onSynced(Lane lane, long round) {
    if (lane.number() == 0) {
      all.listener().onSynced(this, round);
    }
  }

  /** What is held for it is lost, by all lanes that do not lead there. Any thread. */
  public void giveUp(String why) {
    for (LaneLoop loop : all.loops()) {
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
    for (LaneLoop loop : all.loops()) {
      loop.execute(() -> lane(loop.number()).onGoodbye(instance));
    }
  }

  /** The bus is heard of again: all lanes keep what is for it, connected or not. */
  public void revive(Runnable done) {
    AtomicInteger left = new AtomicInteger(lanes.size());
    for (LaneLoop loop : all.loops()) {
      loop.execute(
          () -> {
            lane(loop.number()).revive();
            if (left.decrementAndGet() == 0) {
              all.loop(0).execute(done);
            }
          });
    }
  }

  void onOpened(LaneReceiver receiver, int registryNumber) {
    all.listener().onOpened(this, receiver, registryNumber);
  }

  void onInterest(LaneReceiver receiver, Interest interest) {
    all.listener().onInterest(this, receiver, interest);
  }

  void onSync(LaneReceiver receiver, long round) {
    all.listener().onSync(this, receiver, round);
  }

  void onGone(LaneReceiver receiver) {
    all.listener().onGone(this, receiver);
  }

  @Override
  public String toString() {
    return "bus " + id;
  }
}
