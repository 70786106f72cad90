package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.ReceivedFrames;
import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.LaneHello;
import java.util.HashMap;
import java.util.Map;

/**
 * Lane that a peer has opened, over all its connections: received frames, and how far they are
 * acknowledged.
 *
 * <p>A frame counts as received when it is routed, and is acknowledged when all loops have run what
 * was handed over to them, so that it is in the queues of its subscribers, and all buses to which
 * it was passed on have acknowledged it. Confined to its loop.
 */
public final class IncomingLane {
  /** Frames after which an acknowledgement is due. */
  private static final long DUE_FRAMES = 256;

  /** Maximum look-ups of an unknown bus, each a few milliseconds apart. */
  private static final int MAX_LOOKUPS = 200;

  private static final int MAX_UNKNOWN = 1024;

  private final int number;
  private final LaneLoop loop;
  private final Peer peer;
  private final ReceivedFrames received;
  private final Map<Integer, Integer> unknown = new HashMap<>();
  private long instance;

  IncomingLane(int number, LaneLoop loop, Peer peer) {
    this.number = number;
    this.loop = loop;
    this.peer = peer;
    this.received = new ReceivedFrames(loop, DUE_FRAMES, loop::whenHandedOver);
  }

  int number() {
    return number;
  }

  /** Returns the process at the other end. */
  long instance() {
    return instance;
  }

  LaneLoop loop() {
    return loop;
  }

  Peer peer() {
    return peer;
  }

  ReceivedFrames received() {
    return received;
  }

  void onHello(StreamConnection from, LaneHello hello) {
    StreamConnection before = received.up(from);
    if (before != null) {
      before.close();
    }
    long process = from.linkPeer().instance();
    if (instance == process) {
      received.skipTo(hello.getNext() - 1);
    } else {
      instance = process;
      received.restart(hello.getNext() - 1);
    }
    from.write(PeerFrames.encode(PeerFrames.LANE_WELCOME, received.taken()));
    from.flush();
    received.repeat();
  }

  /** Returns, for a while, whether a bus with an unknown number may still become known. */
  public boolean waitsFor(int number) {
    if (unknown.size() >= MAX_UNKNOWN) {
      unknown.clear();
    }
    return unknown.merge(number, 1, Integer::sum) <= MAX_LOOKUPS;
  }

  /** Counts the next frame, which is routed or about to be. */
  public void take() {
    received.take();
  }

  public long nextSequence() {
    return received.taken() + 1;
  }

  public void passedOn(RelayToken token) {
    received.hold(token);
  }

  /** Called when all buses that a frame was passed on to have acknowledged it. */
  void relayed(RelayToken token) {
    // For another process its number is that of another frame.
    if (token.instance == instance) {
      received.onDone(token);
    }
  }
}
