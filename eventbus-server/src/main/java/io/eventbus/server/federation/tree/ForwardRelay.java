package io.eventbus.server.federation.tree;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.federation.lane.ForwardHandler;
import io.eventbus.server.federation.lane.ForwardHold;
import io.eventbus.server.federation.lane.IncomingLane;
import io.eventbus.server.federation.lane.LaneCounters;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.LanePath;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.lane.RelayToken;
import io.eventbus.server.federation.protocol.ForwardView;
import io.eventbus.server.routing.Router;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Relay of events from peers: delivers them to this bus's subscribers, and passes them on. Confined
 * to its loop.
 */
public final class ForwardRelay implements ForwardHandler {
  private static final RouteTarget[] NOWHERE = {};

  private final LaneLoop loop;
  private final ForwardView forward = new ForwardView();
  private final DeliverView deliver = new DeliverView();
  private final FrameCursor frames = new FrameCursor();
  private final Relay relay;
  private final Router router;
  private final ForwardHold.Charge holds;

  /**
   * Creates the handler of a loop.
   *
   * @param holds gets the topics whose subscribers keep lanes from being read; on the loop, several
   *     times a second while it lasts
   */
  public ForwardRelay(LaneLoop loop, Router router, ForwardHold.Charge holds) {
    this.loop = loop;
    this.router = router;
    this.holds = holds;
    this.relay = new Relay(loop);
  }

  @Override
  public void onTick(ForwardHold hold, long nowNanos) {
    hold.charge(holds, nowNanos);
  }

  @Override
  public void release(ForwardHold hold) {
    hold.charge(holds, loop.nanoTime());
    hold.end();
  }

  private void begin(ForwardHold hold) {
    hold.begin(forward.account(), deliver.topic(), loop.nanoTime());
    loop.checkSoon();
  }

  @Override
  public boolean take(
      IncomingLane lane, ByteBuffer in, int from, int to, ForwardHold hold, Runnable retry) {
    release(hold);
    forward.read(in, from, to);
    frames.wrap(in, forward.deliverStart(), forward.deliverEnd());
    if (!frames.next()
        || frames.typeCode() != TypeCode.DELIVER.code()
        || frames.bodyEnd() != forward.deliverEnd()) {
      throw new CorruptedFrameException("a Forward without a Deliver");
    }
    deliver.readOneBlock(in, frames.bodyStart(), frames.bodyEnd());
    String problem = router.select(forward.account(), in, deliver);
    if (problem != null) {
      throw new CorruptedFrameException(problem);
    }
    boolean ofMemory = loop.memory().isOver();
    if (router.mustWait(forward.plain(), forward.groups(), retry)) {
      if (!ofMemory) {
        begin(hold);
      }
      return false;
    }
    int relayLoop = loop.lane(deliver.producer());
    RouteTarget[] relays = NOWHERE;
    RelayToken token = null;
    if (forward.targetCount() > 0) {
      int[] numbers = forward.targets();
      if (relay.mustWait(numbers, lane, retry)) {
        return false;
      }
      // Outgoing lanes accept it also when they are full: a relay that waited for room could wait
      // for itself in a circle. The bus that it was published on keeps and counts it until it is
      // acknowledged, and so the lanes together keep no more than their openers do.
      List<Tree.Branch<Peer>> branches =
          relay.branches(numbers, deliver.producer(), deliver.eventCount());
      token = new RelayToken(lane, lane.nextSequence(), branches.size());
      relays = relay.targets(forward, branches, relayLoop, token);
      loop.counters().eventsRelayed.add(deliver.eventCount());
    }
    lane.take();
    if (token != null) {
      lane.passedOn(token);
    }
    int missing =
        router.deliver(
            in,
            forward.deliverStart(),
            forward.deliverEnd(),
            deliver,
            forward.plain(),
            forward.groups(),
            loop.nanoTime(),
            relayLoop,
            relays);
    if (missing > 0) {
      loop.counters().lostNoMember.add((long) missing * deliver.eventCount());
    }
    LaneCounters counters = loop.counters();
    counters.framesIn.add(1);
    counters.eventsIn.add(deliver.eventCount());
    counters.hops(forward.hops());
    return true;
  }

  /** Passes frames on to the buses that they name. */
  private static final class Relay {
    private final LaneLoop loop;

    Relay(LaneLoop loop) {
      this.loop = loop;
    }

    List<Tree.Branch<Peer>> branches(int[] numbers, long producer, int events) {
      List<Peer> buses = new ArrayList<>();
      for (int number : numbers) {
        Peer peer = loop.peers().numbered(number);
        if (peer == null) {
          loop.counters().lostGivenUp.add(events);
        } else {
          buses.add(peer);
        }
      }
      int rotation = (int) (LaneLoop.mix(producer) >>> 1);
      return Tree.split(buses, loop.config().fanout(), rotation);
    }

    /**
     * Returns whether the frame has to wait: the registry may be slower here than at the bus that
     * has named a new one.
     */
    boolean mustWait(int[] numbers, IncomingLane lane, Runnable retry) {
      for (int number : numbers) {
        if (loop.peers().numbered(number) == null && lane.waitsFor(number)) {
          loop.later(retry);
          return true;
        }
      }
      return false;
    }

    RouteTarget[] targets(
        ForwardView forward,
        List<Tree.Branch<Peer>> branches,
        int lane,
        @Nullable RelayToken token) {
      RouteTarget[] targets = new RouteTarget[branches.size()];
      for (int i = 0; i < targets.length; i++) {
        Tree.Branch<Peer> branch = branches.get(i);
        LanePath path =
            LanePath.of(
                branch.child().lane(lane),
                forward.account(),
                forward.hops() + 1,
                true,
                groupsOf(forward, branch.child()),
                branch.behind(),
                picksOf(forward, branch.behind()),
                Overflow.BLOCK,
                token);
        targets[i] = new RouteTarget(path, Overflow.BLOCK);
      }
      return targets;
    }

    private static List<String> groupsOf(ForwardView forward, Peer peer) {
      List<String> groups = new ArrayList<>();
      for (int i = 0; i < forward.pickGroups().size(); i++) {
        if (peer.isNumbered(forward.pickBus(i))) {
          groups.add(forward.pickGroups().get(i));
        }
      }
      return groups;
    }

    private static List<LanePath.Pick> picksOf(ForwardView forward, List<Peer> behind) {
      List<LanePath.Pick> picks = new ArrayList<>();
      for (Peer peer : behind) {
        groupsOf(forward, peer).forEach(group -> picks.add(new LanePath.Pick(peer, group)));
      }
      return picks;
    }
  }
}
