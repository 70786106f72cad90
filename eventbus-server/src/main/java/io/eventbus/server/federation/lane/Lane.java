package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.RefusedMemory;
import io.eventbus.protocol.PeerFrames;
import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Delivery;
import io.netty.channel.ChannelFuture;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What goes from this bus to another: what was sent and is not acknowledged yet, what is still to
 * be sent, and the connection, if there is one.
 *
 * <p>Every frame has an implied sequence number. What is held is bounded in bytes: {@link #isFull}
 * makes publishers wait. Confined to its loop but for {@link #isFull}, {@link #isCrowded}, {@link
 * #isUp} and {@link #whenNotFull}.
 *
 * <p>It is one class because the numbers of its frames and the state of its connection change
 * together: what ends a connection decides which frames are kept.
 */
public final class Lane {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /** Why nothing is held for a bus. */
  private enum Abandoned {
    /** It is not known which of its subscribers miss what is for it. */
    GIVEN_UP,
    /** It has ended in order: its clients have gone before, and get what comes where they are. */
    NOT_NEEDED
  }

  /** What is held beyond this waits for acknowledgements, not for the socket. */
  private static final long LAGGING = 1024 * 1024;

  private final LaneLoop loop;
  private final Peer peer;
  private final LaneRing ring = new LaneRing();
  private final LaneQuota room;
  private final AckWaiters acknowledged = new AckWaiters();
  private final Bypass bypass;
  private final Reconnect reconnect;

  private volatile LaneState state = LaneState.DOWN;
  // The number of the first frame that is held, or of the next one.
  private long first = 1;
  private long sent;
  private boolean drainScheduled;

  /** Why nothing is held for the other bus; null as long as what is for it is kept. */
  private @Nullable Abandoned abandoned;

  private @Nullable LaneSender sender;
  private @Nullable Long instance;
  private long downSince;

  Lane(LaneLoop loop, Peer peer) {
    this.loop = loop;
    this.peer = peer;
    this.room = new LaneQuota(loop);
    this.reconnect = new Reconnect(loop);
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

  /** Whether those behind the other bus are reached by their own lanes; any thread. */
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

  /** What waits or is not acknowledged; any thread. */
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
    if (!path.behind().isEmpty() && mustGoPast()) {
      bypass.send(path, delivery, token);
      LanePath alone = path.alone();
      offer(alone, delivery, alone.overflow(), token);
      return;
    }
    if (abandoned != null || state == LaneState.CLOSED) {
      forgo(path, delivery);
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
        // What may wait for long must not keep what others have long been given.
        return delivery.copy(loop.allocator(), loop.memory());
      } catch (OutOfMemoryError e) {
        RefusedMemory.rethrowOthers(e);
        LOG.debug("no memory for a copy; what it is a part of is kept", e);
      }
    }
    delivery.retain();
    return delivery;
  }

  /** Whether those behind the other bus are to be reached directly. */
  private boolean mustGoPast() {
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
   * Counts what is not kept for the other bus.
   *
   * @return whether subscribers may miss it. The members of a group that are left may: this frame
   *     was for one of the other bus
   */
  private boolean forgo(LanePath path, Delivery delivery) {
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
    long most = bypass.writable(last());
    while (sent < most && to.isWritable()) {
      int from = (int) (sent + 1 - first);
      int count = to.write(ring, from, (int) (most + 1 - first), loop.counters());
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

  /** Something went wrong here: the connection ends, and all goes on as after a lost one. */
  void fail() {
    LaneSender open = sender;
    if (open != null) {
      open.close();
    }
  }

  /** Whether any of the frames that are held is to be passed on to further buses. */
  boolean leadsOn() {
    return ring.leadsOn();
  }

  /** Whether it waits for frames that went past the other bus. */
  boolean isHolding() {
    return bypass.isHolding();
  }

  /** Runs a task on this loop when everything that was offered before is acknowledged, or lost. */
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
   * Frames behind one that is not acknowledged are: the bus that has passed them on need not wait.
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

  /** Returns its bytes. */
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

  /** Begins to connect, if there is no connection and it is known where to. */
  public void connect() {
    InetSocketAddress address = peer.address();
    if (state != LaneState.DOWN || address == null || !reconnect.isDue(loop.nanoTime())) {
      return;
    }
    state = state.to(LaneState.CONNECTING);
    loop.open(
        address,
        who -> new LaneSender(loop, this, who),
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
   * The connection is open and authenticated; it has to be welcomed yet.
   *
   * @return false if it is of no use and is closed
   */
  boolean onOpen(LaneSender opened, LinkPeer who) {
    if (state != LaneState.CONNECTING) {
      opened.close();
      return false;
    }
    if (!who.bus().equals(peer.id().value())) {
      // The address has gone to another bus, which has lanes of its own.
      LOG.debug("Lane {} to bus {} led to bus \"{}\"", number(), peer.id(), who.bus());
      opened.close();
      down();
      return false;
    }
    sender = opened;
    Long before = instance;
    if (before != null && before != who.instance()) {
      restarted();
    }
    instance = who.instance();
    return true;
  }

  /** The other side is another process now: what was for the one before went with it. */
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
    reconnect.failed(loop.nanoTime());
    loop.lookSoon();
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

  /** Nothing more is held for the other bus, which may still need it. */
  public void abandon(String why) {
    if (abandoned == null) {
      abandon(Abandoned.GIVEN_UP, why);
    }
  }

  private void abandon(Abandoned as, String why) {
    abandoned = as;
    // Those behind it are still there.
    bypass.resendDirectly();
    forgoAll(why);
  }

  private void forgoAll(String why) {
    LaneSender greeted = sender;
    if (greeted != null && state == LaneState.CONNECTING) {
      // It was told a first number that does not hold any more.
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
      if (forgo(ring.path(0), delivery)) {
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
      LOG.warn("Bus {} is given up: {}; {} events were for it", peer.id(), why, lost);
    }
    if (notNeeded > 0) {
      LOG.info(
          "Bus {}: {}; {} events that were on their way to it are not needed any more",
          peer.id(),
          why,
          notNeeded);
    }
    peer.onAbandoned(this);
  }

  /** The other bus is heard of again: what is for it is kept, and it is tried at once. */
  public void revive() {
    if (abandoned != null && state != LaneState.CLOSED) {
      abandoned = null;
      downSince = loop.nanoTime();
      reconnect.succeeded();
      connect();
    }
  }

  /** The process at the other end has ended in order, unless there is another one by now. */
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

  /** Its connection, also before the other bus has welcomed it. */
  @Nullable LaneSender connection() {
    return sender;
  }

  public @Nullable LaneSender sender() {
    return state == LaneState.UP ? sender : null;
  }

  /**
   * Ends.
   *
   * @return completes when the other bus has been told and has closed the connection; null if there
   *     is none
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
      forgoAll("its lane is closed");
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
