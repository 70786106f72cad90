package io.eventbus.server.federation.lane;

import io.eventbus.base.RefusedMemory;
import io.eventbus.link.stream.OpenedStream;
import io.eventbus.link.stream.ReliableStream;
import io.eventbus.link.stream.StreamConnection;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.LaneHello;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lane from this bus to a peer: a reliable stream of events, whose kept bytes are bounded: {@link
 * #isFull} makes publishers wait. Confined to its loop except for {@link #isFull}, {@link
 * #isCrowded}, {@link #isUp} and {@link #whenNotFull}.
 *
 * <p>It is one class because the numbers of its frames and the state of its connection change
 * together: the reason for the end of a connection decides which frames are kept.
 */
public final class Lane extends OpenedStream implements ReliableStream.Owner<LaneFrame> {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /** Reason why nothing is kept for a peer. */
  private enum Abandoned {
    /** Given up: its subscribers may miss frames. */
    GIVEN_UP,
    /** Ended in order: its clients have moved before, and get their events at their new bus. */
    NOT_NEEDED
  }

  /** Maximum bytes of an answer. */
  private static final int MAX_ANSWER = 64 * 1024;

  /** Bytes beyond which frames wait for acknowledgements, not for the socket. */
  private static final long LAGGING = 1024 * 1024;

  private final LaneLoop loop;
  private final Peer peer;
  private final ReliableStream<LaneFrame> stream;
  private final LaneQuota room;
  private final AckWaiters acknowledged = new AckWaiters();
  private final Bypass bypass;

  // Number of the kept frames that are to be passed on to further buses.
  private int relayed;

  /** Reason why nothing is kept for the peer; null while frames are kept. */
  private @Nullable Abandoned abandoned;

  private @Nullable Long instance;

  Lane(LaneLoop loop, Peer peer) {
    super(loop, peer.id().value(), Lanes.KIND + "." + loop.number(), MAX_ANSWER);
    this.loop = loop;
    this.peer = peer;
    this.room = new LaneQuota(loop);
    this.stream = new ReliableStream<>(loop, this);
    this.bypass = new Bypass(loop, this, stream);
  }

  LaneLoop loop() {
    return loop;
  }

  int number() {
    return loop.number();
  }

  Peer peer() {
    return peer;
  }

  public boolean isFull() {
    return room.isFull();
  }

  /** Returns whether buses behind the peer are reached by their own lanes; any thread. */
  boolean isBypassing() {
    return bypass.isOn();
  }

  public boolean isCrowded() {
    return room.isCrowded();
  }

  boolean isIdle() {
    return stream.isEmpty();
  }

  /** Returns the bytes of unsent and unacknowledged frames; any thread. */
  public long bytes() {
    return room.bytes();
  }

  public void whenNotFull(Runnable retry) {
    room.whenNotFull(retry);
  }

  void offer(LanePath path, Delivery delivery, Overflow overflow, @Nullable FrameToken token) {
    if (!path.behind().isEmpty() && shouldBypass()) {
      bypass.send(path, delivery, token);
      LanePath alone = path.alone();
      offer(alone, delivery, alone.overflow(), token);
      return;
    }
    if (abandoned != null || isClosed()) {
      drop(path, delivery);
      done(token);
      return;
    }
    if (room.isFull() && overflow != Overflow.BLOCK) {
      loop.counters().lostQueueFull.add(delivery.events());
      done(token);
      return;
    }
    LaneFrame kept = new LaneFrame(this, toKeep(delivery), path, token);
    countRelayed(path, 1);
    stream.add(kept);
    room.add(kept.keptBytes());
  }

  private Delivery toKeep(Delivery delivery) {
    if (delivery.isInSlab() && mayWaitForLong()) {
      try {
        // Copied: a delivery that may wait for long must not keep memory alive that others have
        // released.
        return delivery.copy(loop.allocator(), loop.memory());
      } catch (OutOfMemoryError e) {
        RefusedMemory.rethrowOthers(e);
        LOG.debug("no memory for a copy; the original buffer is kept", e);
      }
    }
    delivery.retain();
    return delivery;
  }

  /** Returns whether to bypass the peer and send directly to those behind it. */
  private boolean shouldBypass() {
    if (abandoned != null || !isUp()) {
      bypass.begin();
    }
    return bypass.isOn();
  }

  private boolean mayWaitForLong() {
    return !stream.isFlowing() || room.bytes() > LAGGING;
  }

  /**
   * Counts a frame that is not kept for the peer. Returns whether subscribers may miss it: the
   * remaining members of a group may, because the frame was for a member at the peer.
   */
  private boolean drop(LanePath path, Delivery delivery) {
    if (abandoned == Abandoned.NOT_NEEDED && !path.isForGroups()) {
      loop.counters().notNeeded.add(delivery.events());
      return false;
    }
    loop.counters().lostGivenUp.add(delivery.events());
    peer.countLost(delivery.events());
    return true;
  }

  private void done(@Nullable FrameToken token) {
    if (token != null) {
      token.done(loop);
    }
  }

  /** Counts a frame that is kept, or not any more, if it is to be passed on. */
  void countRelayed(LanePath path, int change) {
    if (!path.behind().isEmpty()) {
      relayed += change;
    }
  }

  void drainSoon() {
    stream.drainSoon();
  }

  @Override
  public long sendable() {
    return bypass.sendable();
  }

  @Override
  public void onSent(LaneFrame frame) {
    LaneCounters counters = loop.counters();
    counters.eventsOut.add(frame.delivery().events());
    counters.framesOut.add(1);
    counters.bytesOut.add((long) frame.headBytes() + frame.bodyBytes());
  }

  @Override
  public boolean writeMore(StreamConnection to) {
    boolean asks = acknowledged.mustAsk(stream.lastSent());
    if (asks) {
      to.write(PeerFrames.encode(PeerFrames.SYNC, 0));
    }
    return asks;
  }

  /** Closes the connection after an internal error; recovery is that of a lost one. */
  void fail() {
    StreamConnection open = connection();
    if (open != null) {
      open.close();
    }
  }

  /** Returns whether any of the kept frames is to be passed on to further buses. */
  boolean hasRelayed() {
    return relayed > 0;
  }

  /** Returns whether it waits for frames that bypassed the peer. */
  boolean isHolding() {
    return bypass.isHolding();
  }

  /** Runs a task on this loop when everything offered before is acknowledged, or lost. */
  void whenAcknowledged(Runnable done) {
    if (stream.isEmpty()) {
      done.run();
      return;
    }
    acknowledged.add(stream.last(), done);
    stream.drainSoon();
  }

  ReliableStream<LaneFrame> stream() {
    return stream;
  }

  @Override
  public void onFreed() {
    room.free(room.bytes() - stream.bytes());
    acknowledged.runBefore(stream.first());
  }

  @Override
  protected @Nullable InetSocketAddress address() {
    return peer.address();
  }

  @Override
  protected void greet(StreamConnection opened) {
    long process = opened.linkPeer().instance();
    Long before = instance;
    if (before != null && before != process) {
      restarted();
    }
    instance = process;
    opened.write(
        PeerFrames.encode(
            PeerFrames.LANE_HELLO,
            new LaneHello(number(), loop.count(), loop.registryNumber(), stream.first())));
    opened.flush();
  }

  /** Handles another process at the other end: frames for its predecessor are lost with it. */
  private void restarted() {
    bypass.resendDirectly();
    stream.dropAll(
        frame -> {
          int events = frame.delivery().events();
          loop.counters().lostRestarted.add(events);
          peer.countLost(events);
        });
  }

  @Override
  public boolean onFrame(StreamConnection from, int typeCode, ByteBuffer in, int begin, int end) {
    return from != connection()
        || LaneFrameHandlers.FROM_ACCEPTOR.handle(typeCode, this, in, begin, end);
  }

  @Override
  public void onWritable() {
    stream.drainSoon();
  }

  @Override
  public void onGoodbye(StreamConnection from) {
    peer.onGoodbye(from.linkPeer().instance());
  }

  void onWelcome(long taken) {
    StreamConnection from = connection();
    if (from == null || isUp()) {
      return;
    }
    answered();
    welcomed();
    abandoned = null;
    loop.counters().resent.add(stream.up(from, taken));
    acknowledged.askAgain();
    loop.counters().connects.add(1);
    LOG.info("{} is up", this);
    bypass.onUp(stream.last() + 1, loop.nanoTime());
    peer.onLaneUp(this, from);
  }

  @Override
  protected void onDown(boolean wasUp) {
    stream.down();
    if (wasUp) {
      LOG.info("{} is down", this);
      peer.onLaneDown(this);
      bypass.resendDirectly();
    }
  }

  void onTick(long now) {
    connect();
    if (abandoned == null && isTimedOut(loop.config().peerTimeout().toNanos(), now)) {
      abandon("it could not be reached for " + loop.config().peerTimeout().toMillis() + " ms");
    }
    if (isUp() && abandoned == null) {
      bypass.onUp(stream.last() + 1, now);
    }
    if (stream.isEmpty()) {
      stream.trim();
    }
  }

  /** Stops keeping frames for a peer, which may still need them. */
  public void abandon(String reason) {
    if (abandoned == null) {
      abandon(Abandoned.GIVEN_UP, reason);
    }
  }

  private void abandon(Abandoned as, String reason) {
    abandoned = as;
    // Buses behind it are still there.
    bypass.resendDirectly();
    dropAll(reason);
  }

  private void dropAll(String reason) {
    withdraw();
    long[] events = new long[2];
    stream.dropAll(
        frame -> events[drop(frame.path(), frame.delivery()) ? 0 : 1] += frame.delivery().events());
    room.open();
    long lost = events[0];
    long notNeeded = events[1];
    if (lost > 0) {
      LOG.warn("Bus {} is given up: {}; {} events were for it", peer.id(), reason, lost);
    }
    if (notNeeded > 0) {
      LOG.info(
          "Bus {}: {}; {} events that were on their way to it are not needed any more",
          peer.id(),
          reason,
          notNeeded);
    }
    peer.onAbandoned(this);
  }

  /** Keeps frames for a peer that is heard of again, and connects at once. */
  public void resume() {
    if (abandoned != null && !isClosed()) {
      abandoned = null;
      retryNow();
    }
  }

  /** Handles the ordered end of the process at the other end, unless it was replaced by now. */
  void onGoodbye(long otherInstance) {
    Long known = instance;
    if (known != null && known != otherInstance) {
      return;
    }
    if (abandoned == null) {
      abandon(Abandoned.NOT_NEEDED, "it has ended");
    } else {
      abandoned = Abandoned.NOT_NEEDED;
    }
  }

  /** Returns the connection if the lane is up. */
  public @Nullable StreamConnection sender() {
    return isUp() ? connection() : null;
  }

  /** Ends with this bus: says goodbye on the connection, which the peer closes. */
  void end() {
    close(false);
  }

  public void close() {
    close(true);
  }

  private void close(boolean withConnection) {
    if (isClosed()) {
      return;
    }
    if (abandoned == null) {
      abandoned = Abandoned.GIVEN_UP;
      dropAll("its lane is closed");
    }
    boolean wasUp = isUp();
    StreamConnection open = closed();
    stream.down();
    if (open != null && (withConnection || !wasUp)) {
      open.close();
    }
  }

  @Override
  public String toString() {
    return "Lane " + number() + " to " + peer;
  }
}
