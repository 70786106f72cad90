package io.eventbus.server.federation.lane;

import io.eventbus.base.Backoff;
import io.eventbus.base.RefusedMemory;
import io.eventbus.link.LinkPeer;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.channel.ChannelFuture;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lane from this bus to a peer: unacknowledged frames, unsent frames, and the connection, if there
 * is one.
 *
 * <p>Every frame has an implied sequence number. The kept bytes are bounded: {@link #isFull} makes
 * publishers wait. Confined to its loop except for {@link #isFull}, {@link #isCrowded}, {@link
 * #isUp} and {@link #whenNotFull}.
 *
 * <p>It is one class because the numbers of its frames and the state of its connection change
 * together: the reason for the end of a connection decides which frames are kept.
 */
public final class Lane {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /** Reason why nothing is kept for a peer. */
  private enum Abandoned {
    /** Given up: its subscribers may miss frames. */
    GIVEN_UP,
    /** Ended in order: its clients have moved before, and get their events at their new bus. */
    NOT_NEEDED
  }

  /** Bytes beyond which frames wait for acknowledgements, not for the socket. */
  private static final long LAGGING = 1024 * 1024;

  private final LaneLoop loop;
  private final Peer peer;
  private final LaneRing ring = new LaneRing();
  private final LaneQuota room;
  private final AckWaiters acknowledged = new AckWaiters();
  private final Bypass bypass;
  private final Backoff reconnect = LaneLoop.reconnectBackoff();

  private volatile LaneState state = LaneState.DOWN;
  // Number of the first kept frame, or of the next one.
  private long first = 1;
  private long sent;
  private boolean drainScheduled;

  /** Reason why nothing is kept for the peer; null while frames are kept. */
  private @Nullable Abandoned abandoned;

  private @Nullable LaneSender sender;
  private @Nullable Long instance;
  private long downSince;

  Lane(LaneLoop loop, Peer peer) {
    this.loop = loop;
    this.peer = peer;
    this.room = new LaneQuota(loop);
    this.bypass = new Bypass(loop, this, ring);
    this.downSince = loop.nanoTime();
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

  public boolean isUp() {
    return state == LaneState.UP;
  }

  boolean isIdle() {
    return ring.size() == 0;
  }

  /** Returns the bytes of unsent and unacknowledged frames; any thread. */
  public long bytes() {
    return room.bytes();
  }

  public void whenNotFull(Runnable retry) {
    room.whenNotFull(retry);
  }

  private long last() {
    return first + ring.size() - 1;
  }

  void offer(LanePath path, Delivery delivery, Overflow overflow, @Nullable FrameToken token) {
    if (!path.behind().isEmpty() && shouldBypass()) {
      bypass.send(path, delivery, token);
      LanePath alone = path.alone();
      offer(alone, delivery, alone.overflow(), token);
      return;
    }
    if (abandoned != null || state == LaneState.CLOSED) {
      drop(path, delivery);
      done(token);
      return;
    }
    if (room.isFull() && overflow != Overflow.BLOCK) {
      loop.counters().lostQueueFull.add(delivery.events());
      done(token);
      return;
    }
    Delivery kept = toKeep(delivery);
    ring.add(kept, path, token);
    room.add(kept.size());
    drainSoon();
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
    LaneSender to = sender;
    return to == null || !to.isWritable() || room.bytes() > LAGGING;
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

  void drainSoon() {
    if (!drainScheduled && sender != null) {
      drainScheduled = true;
      loop.drainSoon(this);
    }
  }

  /** Writes as much as the socket takes. */
  void drain() {
    drainScheduled = false;
    LaneSender to = sender;
    if (to == null || state != LaneState.UP) {
      return;
    }
    boolean wrote = false;
    long max = bypass.writable(last());
    while (sent < max && to.isWritable()) {
      int from = (int) (sent + 1 - first);
      int count = to.write(ring, from, (int) (max + 1 - first), loop.counters());
      sent += count;
      wrote = true;
    }
    if (acknowledged.mustAsk(sent)) {
      to.write(PeerFrames.encode(PeerFrames.SYNC, 0));
      wrote = true;
    }
    if (wrote) {
      to.flush();
    }
  }

  /** Closes the connection after an internal error; recovery is that of a lost one. */
  void fail() {
    LaneSender open = sender;
    if (open != null) {
      open.close();
    }
  }

  /** Returns whether any of the kept frames is to be passed on to further buses. */
  boolean hasRelayed() {
    return ring.hasRelayed();
  }

  /** Returns whether it waits for frames that bypassed the peer. */
  boolean isHolding() {
    return bypass.isHolding();
  }

  /** Runs a task on this loop when everything offered before is acknowledged, or lost. */
  void whenAcknowledged(Runnable done) {
    if (ring.size() == 0) {
      done.run();
      return;
    }
    acknowledged.add(last(), done);
    drainSoon();
  }

  void onAck(long sequence) {
    if (sequence > sent) {
      throw new IllegalStateException("ack: " + sequence + " (expected: <= " + sent + ")");
    }
    long freed = 0;
    while (first <= sequence) {
      freed += forgetFirst();
    }
    freed(freed);
  }

  /**
   * Handles acknowledgements of frames after an unacknowledged one: the bus that has passed them on
   * need not wait.
   */
  void onAckRange(long from, long to) {
    if (from > to || to > sent) {
      throw new IllegalStateException("ack: " + from + " to " + to + " (sent: " + sent + ")");
    }
    for (long sequence = Math.max(from, first); sequence <= to; sequence++) {
      int at = (int) (sequence - first);
      FrameToken token = ring.token(at);
      if (token != null) {
        ring.clearToken(at);
        token.done(loop);
      }
    }
  }

  /** Removes the first frame; returns its bytes. */
  private long forgetFirst() {
    Delivery delivery = ring.delivery(0);
    FrameToken token = ring.token(0);
    long size = delivery.size();
    ring.removeFirst();
    first++;
    delivery.release();
    done(token);
    return size;
  }

  private void freed(long freed) {
    room.free(freed);
    acknowledged.runBefore(first);
  }

  /** Starts to connect, if there is no connection and an address is known. */
  public void connect() {
    InetSocketAddress address = peer.address();
    if (state != LaneState.DOWN || address == null || !reconnect.isDue(loop.nanoTime())) {
      return;
    }
    state = state.to(LaneState.CONNECTING);
    loop.open(
        address,
        linkPeer -> new LaneSender(loop, this, linkPeer),
        error -> {
          if (state == LaneState.CONNECTING && sender == null) {
            LOG.debug("Lane {} to bus {} cannot be opened", number(), peer.id(), error);
            down();
          }
        });
  }

  long next() {
    return first;
  }

  /**
   * Called when the connection is open and authenticated, before the welcome. Returns false if it
   * is of no use and is closed.
   */
  boolean onOpen(LaneSender opened, LinkPeer linkPeer) {
    if (state != LaneState.CONNECTING) {
      opened.close();
      return false;
    }
    if (!linkPeer.bus().equals(peer.id().value())) {
      // The address belongs to another bus now, which has lanes of its own.
      LOG.debug("Lane {} to bus {} led to bus \"{}\"", number(), peer.id(), linkPeer.bus());
      opened.close();
      down();
      return false;
    }
    sender = opened;
    Long before = instance;
    if (before != null && before != linkPeer.instance()) {
      restarted();
    }
    instance = linkPeer.instance();
    return true;
  }

  /** Handles another process at the other end: frames for its predecessor are lost with it. */
  private void restarted() {
    long freed = 0;
    bypass.resendDirectly();
    while (ring.size() > 0) {
      Delivery delivery = ring.delivery(0);
      loop.counters().lostRestarted.add(delivery.events());
      peer.countLost(delivery.events());
      freed += forgetFirst();
    }
    freed(freed);
  }

  void onWelcome(LaneSender from, long taken) {
    if (from != sender || state != LaneState.CONNECTING) {
      return;
    }
    state = state.to(LaneState.UP);
    reconnect.succeeded();
    abandoned = null;
    long resumed = Math.max(first - 1, Math.min(taken, last()));
    if (sent > resumed) {
      loop.counters().resent.add(sent - resumed);
    }
    sent = resumed;
    acknowledged.askAgain();
    loop.counters().connects.add(1);
    LOG.info("Lane {} to bus {} is up", number(), peer.id());
    bypass.onUp(last() + 1, loop.nanoTime());
    peer.onLaneUp(this, from);
    drainSoon();
  }

  void onClosed(LaneSender closed) {
    if (closed == sender) {
      down();
    }
  }

  private void down() {
    if (state == LaneState.CLOSED) {
      return;
    }
    boolean wasUp = state == LaneState.UP;
    state = state.to(LaneState.DOWN);
    sender = null;
    reconnect.failed(loop.nanoTime(), loop.random());
    loop.checkSoon();
    if (wasUp) {
      downSince = loop.nanoTime();
      LOG.info("Lane {} to bus {} is down", number(), peer.id());
      peer.onLaneDown(this);
      bypass.resendDirectly();
    }
  }

  void onTick(long now) {
    LaneSender open = sender;
    if (open != null) {
      open.onTick(now);
    }
    if (state == LaneState.DOWN) {
      connect();
    }
    if (state != LaneState.UP
        && abandoned == null
        && now - downSince > loop.config().peerTimeout().toNanos()) {
      abandon("it could not be reached for " + loop.config().peerTimeout().toMillis() + " ms");
    }
    if (isUp() && abandoned == null) {
      bypass.onUp(last() + 1, now);
    }
    if (room.bytes() == 0) {
      ring.trim();
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
    LaneSender greeted = sender;
    if (greeted != null && state == LaneState.CONNECTING) {
      // Its first number is no longer valid.
      greeted.close();
      if (state == LaneState.CONNECTING) {
        down();
      }
    }
    long freed = 0;
    long lost = 0;
    long notNeeded = 0;
    while (ring.size() > 0) {
      Delivery delivery = ring.delivery(0);
      int events = delivery.events();
      if (drop(ring.path(0), delivery)) {
        lost += events;
      } else {
        notNeeded += events;
      }
      freed += forgetFirst();
    }
    sent = Math.max(sent, first - 1);
    freed(freed);
    room.open();
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
    if (abandoned != null && state != LaneState.CLOSED) {
      abandoned = null;
      downSince = loop.nanoTime();
      reconnect.succeeded();
      connect();
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

  /** Returns the connection, also before the peer has welcomed it. */
  @Nullable LaneSender connection() {
    return sender;
  }

  public @Nullable LaneSender sender() {
    return state == LaneState.UP ? sender : null;
  }

  /**
   * Closes the lane. Returns the future of the end: the peer was notified and has closed the
   * connection; null if there is no connection.
   */
  @Nullable ChannelFuture end() {
    LaneSender open = sender();
    close(false);
    return open == null ? null : open.end();
  }

  public void close() {
    close(true);
  }

  private void close(boolean withConnection) {
    if (state == LaneState.CLOSED) {
      return;
    }
    if (abandoned == null) {
      abandoned = Abandoned.GIVEN_UP;
      dropAll("its lane is closed");
    }
    boolean wasUp = isUp();
    state = state.to(LaneState.CLOSED);
    LaneSender open = sender;
    sender = null;
    if (open != null && (withConnection || !wasUp)) {
      open.close();
    }
  }
}
