package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.LaneHello;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection of a lane at the bus that has accepted it; {@link LaneFrameHandlers} handles its
 * frames. Confined to its loop.
 */
public final class LaneReceiver implements StreamConnection.End {
  private static final Logger LOG = LoggerFactory.getLogger(LaneReceiver.class);

  private final LaneLoop loop;
  private final ForwardHandler forwards;
  private final ForwardHold hold = new ForwardHold();
  private final StreamConnection connection;
  private final Runnable retry;
  private @Nullable IncomingLane lane;

  /** Creates the user of a connection that a peer has opened. */
  public LaneReceiver(LaneLoop loop, LinkPeer linkPeer, ForwardHandler forwards) {
    this.loop = loop;
    this.forwards = forwards;
    this.connection = new StreamConnection(loop, linkPeer, loop.maxFrameBytes(), this);
    this.retry = connection::retry;
  }

  /** Returns the handler of the connection. */
  public StreamConnection connection() {
    return connection;
  }

  @Override
  public boolean onFrame(StreamConnection by, int typeCode, ByteBuffer in, int from, int to) {
    IncomingLane known = lane;
    if (known == null) {
      if (typeCode != PeerFrames.LANE_HELLO) {
        throw new CorruptedFrameException("typeCode: " + typeCode + " (expected: LaneHello)");
      }
      onHello(PeerFrames.laneHello(in, from, to));
      return true;
    }
    // The kept bytes of one that was replaced come again on the connection that has replaced it.
    return !known.received().isBy(by)
        || LaneFrameHandlers.FROM_OPENER.handle(typeCode, this, in, from, to);
  }

  private IncomingLane lane() {
    IncomingLane known = lane;
    if (known == null) {
      throw new IllegalStateException("the other bus has not said which lane it is");
    }
    return known;
  }

  boolean forward(ByteBuffer in, int from, int to) {
    return forwards.take(lane(), in, from, to, hold, retry);
  }

  boolean interest(ByteBuffer in, int from, int to) {
    InterestTurns turns = loop.interestTurns();
    long began = loop.nanoTime();
    if (!turns.mayTake(began)) {
      var unused = loop.schedule(retry, InterestTurns.PAUSE_MILLIS);
      return false;
    }
    Interest interest = PeerFrames.interest(in, from, to);
    firstLane().peer().onInterest(connection, interest);
    turns.spent(began, loop.nanoTime());
    return true;
  }

  void onSync(long round) {
    if (round == 0) {
      lane().received().settle();
    } else {
      firstLane().peer().onSync(connection, round);
    }
  }

  private IncomingLane firstLane() {
    IncomingLane known = lane();
    if (known.number() != 0) {
      throw new CorruptedFrameException("a frame for lane 0 on lane " + known.number());
    }
    return known;
  }

  private void onHello(LaneHello hello) {
    LinkPeer linkPeer = connection.linkPeer();
    int number = LaneLoop.laneOf(linkPeer);
    if (hello.getLane() != number || hello.getNext() < 1) {
      throw new CorruptedFrameException(
          "lane " + hello.getLane() + ", next " + hello.getNext() + " on lane " + number);
    }
    Peer peer = loop.peers().of(linkPeer);
    if (peer == null) {
      throw new CorruptedFrameException("a lane to itself, or too many buses");
    }
    IncomingLane entered = peer.incoming(number, loop);
    lane = entered;
    LOG.debug("Bus {} has opened its lane {}", linkPeer.bus(), number);
    entered.onHello(connection, hello);
    if (number == 0) {
      peer.onOpened(connection, hello.getNumber());
    }
  }

  @Override
  public void onReadEnd(StreamConnection from) {
    IncomingLane known = lane;
    if (known != null) {
      known.received().onReadEnd();
    }
  }

  @Override
  public void onTick(StreamConnection ticked, long now) {
    if (ticked.isPaused()) {
      forwards.onTick(hold, now);
    }
  }

  /** Returns whether full subscribers keep it from being read. */
  @Override
  public boolean isDueSoon() {
    return hold.isOn();
  }

  @Override
  public void onGoodbye(StreamConnection from) {
    IncomingLane known = lane;
    if (known != null) {
      known.peer().onGoodbye(from.linkPeer().instance());
    }
  }

  @Override
  public void onClosed(StreamConnection closed) {
    forwards.release(hold);
    IncomingLane known = lane;
    if (known != null) {
      if (known.received().isBy(closed)) {
        known.received().down();
      }
      if (known.number() == 0) {
        known.peer().onGone(closed);
      }
    }
  }

  @Override
  public String toString() {
    return "The lane " + connection.linkPeer().channel() + " of bus " + connection.linkPeer().bus();
  }
}
