package io.eventbus.server.federation.lane;

import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.LaneHello;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
  private final Deque<RelayToken> relays = new ArrayDeque<>();
  private final Map<Integer, Integer> unknown = new HashMap<>();
  private long instance;
  private long taken;
  // Last frame up to which everything is in the queues of this bus.
  private long settled;
  private long acked;
  private long settling;
  private boolean again;
  private boolean timer;
  private @Nullable LaneReceiver receiver;

  IncomingLane(int number, LaneLoop loop, Peer peer) {
    this.number = number;
    this.loop = loop;
    this.peer = peer;
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

  void onHello(LaneReceiver from, long otherInstance, LaneHello hello) {
    LaneReceiver before = receiver;
    receiver = from;
    if (before != null && before != from) {
      before.close();
    }
    if (instance != otherInstance) {
      instance = otherInstance;
      taken = hello.getNext() - 1;
      settled = taken;
      acked = taken;
      settling = 0;
      relays.clear();
    } else {
      // The peer has given up the frames between.
      taken = Math.max(taken, hello.getNext() - 1);
      // Acknowledgements on the old connection may not have arrived.
      acked = Math.min(acked, hello.getNext() - 1);
    }
    from.write(PeerFrames.encode(PeerFrames.LANE_WELCOME, taken));
    from.flush();
    // Messages on the old connection may not have arrived.
    acknowledgeBehind(acked + 1);
    settle();
  }

  /** Returns, for a while, whether a bus with an unknown number may still become known. */
  public boolean waitsFor(int number) {
    if (unknown.size() >= MAX_UNKNOWN) {
      unknown.clear();
    }
    return unknown.merge(number, 1, Integer::sum) <= MAX_LOOKUPS;
  }

  /** Returns whether this is its newest connection. */
  boolean isBy(LaneReceiver asking) {
    return asking == receiver;
  }

  void onClosed(LaneReceiver closed) {
    if (closed == receiver) {
      receiver = null;
    }
  }

  /** Counts the next frame, which is routed or about to be. */
  public void take() {
    taken++;
  }

  public long nextSequence() {
    return taken + 1;
  }

  public void passedOn(RelayToken token) {
    relays.add(token);
  }

  /** Called when all buses that a frame was passed on to have acknowledged it. */
  void relayed(RelayToken token) {
    if (token.instance != instance) {
      // Its number is that of another frame now.
      return;
    }
    acknowledge();
    LaneReceiver to = receiver;
    if (token.sequence > acked && token.sequence <= settled && to != null) {
      to.write(PeerFrames.encode(PeerFrames.LANE_ACK_RANGE, token.sequence, token.sequence));
      to.flush();
    }
  }

  /** Acknowledges frames after one that is still being passed on. */
  private void acknowledgeBehind(long from) {
    LaneReceiver to = receiver;
    if (to == null || relays.isEmpty()) {
      return;
    }
    long next = Math.max(from, acked + 1);
    for (RelayToken relay : relays) {
      if (relay.sequence > settled) {
        break;
      }
      if (relay.sequence >= next && !relay.isDone()) {
        acknowledgeRange(to, next, relay.sequence - 1);
        next = relay.sequence + 1;
      }
    }
    acknowledgeRange(to, next, settled);
    to.flush();
  }

  private static void acknowledgeRange(LaneReceiver to, long from, long upTo) {
    if (from <= upTo) {
      to.write(PeerFrames.encode(PeerFrames.LANE_ACK_RANGE, from, upTo));
    }
  }

  /** Called when all received frames were routed. */
  void onReadEnd() {
    if (taken == settled || settling != 0) {
      return;
    }
    if (taken - settled >= DUE_FRAMES) {
      settle();
    } else if (!timer) {
      timer = true;
      loop.later(
          () -> {
            timer = false;
            settle();
          });
    }
  }

  /** Finds out when the received frames are in the queues, and acknowledges them then. */
  void settle() {
    if (settling != 0) {
      again = true;
      return;
    }
    if (taken == settled) {
      acknowledge();
      return;
    }
    long upTo = taken;
    settling = upTo;
    loop.whenHandedOver(() -> settled(upTo));
  }

  private void settled(long upTo) {
    if (settling != upTo) {
      return;
    }
    settling = 0;
    long before = settled;
    settled = upTo;
    acknowledge();
    acknowledgeBehind(before + 1);
    if (again) {
      again = false;
      settle();
    } else {
      onReadEnd();
    }
  }

  private void acknowledge() {
    for (RelayToken head = relays.peek(); head != null && head.isDone(); head = relays.peek()) {
      relays.remove();
    }
    RelayToken waiting = relays.peek();
    long upTo = waiting == null ? settled : Math.min(settled, waiting.sequence - 1);
    LaneReceiver to = receiver;
    if (upTo > acked && to != null) {
      acked = upTo;
      to.write(PeerFrames.encode(PeerFrames.LANE_ACK, upTo));
      to.flush();
    }
  }
}
