package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.NumberMap;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.stats.CallStats;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends of streams and tunnels at one connection, both called and served. Created with the first.
 * Confined to the loop that owns the connection.
 */
public final class TunnelClient {
  /** Result of handling a frame of the client. */
  public enum Outcome {
    /** Valid, or too late to be wrong. */
    TAKEN,
    /**
     * For no tunnel of this connection, or it has ended one: too many of these close the
     * connection.
     */
    WRONG
  }

  /** Heap bytes of an end, with its place in its connection. */
  static final int HALF_BYTES = 200;

  private static final TunnelEnding CALLER_GONE =
      TunnelEnding.of(FailureCode.CANCELLED, "the caller's connection has ended");

  private static final TunnelEnding MEMBER_GONE =
      TunnelEnding.of(FailureCode.MEMBER_LOST, "the member's connection has ended");

  private final TunnelLoop loop;
  private final TunnelEnds ends;
  private final ServiceShare held;
  private final TunnelSettings settings;
  private final TunnelRoom room;
  private final CallStats stats;
  // By the numbers of this connection: positive for its own, negative for those that it serves.
  private final NumberMap<TunnelHalf> halves = new NumberMap<>();
  private final WrittenOrder order = new WrittenOrder();
  // Allowance for late frames of ended tunnels, because the client did not know.
  private long late;
  // Ended tunnels with unwritten frames.
  private int draining;
  // Bytes of unwritten end frames.
  private long endingBytes;
  // Reason why there was no room for the last request.
  private @Nullable String refusal;
  private int opened;
  private boolean closed;

  /**
   * Creates an empty set of tunnels.
   *
   * @param shortOfMemory whether the bus has so little memory that senders get only the minimum
   */
  public TunnelClient(
      TunnelLoop loop,
      TunnelEnds ends,
      ServiceShare held,
      TunnelSettings settings,
      CallStats stats,
      BooleanSupplier shortOfMemory) {
    this.loop = loop;
    this.ends = ends;
    this.held = held;
    this.settings = settings;
    this.stats = stats;
    this.room = new TunnelRoom(settings, shortOfMemory);
  }

  /**
   * Returns why there was no room for the {@linkplain #request requested} tunnel; null if there
   * was.
   */
  public @Nullable String refusal() {
    return refusal;
  }

  /** Returns why there was no room for the accepted tunnel; null if there was. */
  @Nullable String excess() {
    String full = excess(0);
    return full == null ? refusal : full;
  }

  private @Nullable String excess(int further) {
    return halves.size() + draining + further <= settings.perConnection()
        ? null
        : "too many streams and tunnels of the connection are open (expected: at most "
            + settings.perConnection()
            + ", limits.tunnels)";
  }

  /**
   * Creates a caller's end, which waits for a member to accept it. Returns null if its number is in
   * use, or if there is no {@linkplain #refusal room}.
   */
  public @Nullable TunnelHalf request(long call, boolean stream, long limit) {
    assert loop.isCurrent();
    refusal = null;
    if (closed || halves.containsKey(call)) {
      return null;
    }
    refusal = excess(1);
    if (refusal == null && endingBytes > settings.shared()) {
      refusal =
          "unread ends of tunnels take "
              + endingBytes
              + " bytes (expected: at most "
              + settings.shared()
              + ", half of limits.tunnel-buffer-bytes)";
    }
    if (refusal == null) {
      refusal = held.acquire(HALF_BYTES, 0);
    }
    if (refusal != null) {
      return null;
    }
    TunnelHalf half = new TunnelHalf(this, call, stream, limit).requested();
    halves.put(call, half);
    return half;
  }

  /** Returns the end of a call that waits for a member, or null. */
  public @Nullable TunnelHalf requested(long call) {
    TunnelHalf half = halves.get(call);
    return half == null || half.isOpen() ? null : half;
  }

  /** Removes the end of a call that has ended before a member accepted it. */
  public void refused(long call) {
    TunnelHalf half = requested(call);
    if (half != null) {
      half.end();
    }
  }

  /**
   * Creates the member's end; {@link TunnelHalf#endIfTooMany} has to follow when the caller is
   * notified.
   */
  public TunnelHalf accept(long call, long limit, TunnelHalf caller) {
    assert loop.isCurrent();
    refusal = held.acquire(HALF_BYTES, 0);
    if (refusal != null) {
      // Until the caller is notified.
      held.add(HALF_BYTES);
    }
    TunnelHalf half = new TunnelHalf(this, call, limit, caller);
    halves.put(call, half);
    return half;
  }

  // ---- From the client

  /**
   * Handles a {@code Data} of the client.
   *
   * @param offset offset of its first byte
   * @param payload bytes of payload
   */
  public Outcome data(long call, long offset, boolean more, boolean last, int payload) {
    assert loop.isCurrent();
    TunnelHalf half = halves.get(call);
    if (half == null || !half.isOpen()) {
      return late(payload);
    }
    return half.data(offset, more, last, payload) ? Outcome.TAKEN : Outcome.WRONG;
  }

  private Outcome late(int payload) {
    int cost = TunnelFrames.cost(payload);
    if (late < cost) {
      return Outcome.WRONG;
    }
    late -= cost;
    return Outcome.TAKEN;
  }

  /** Handles a {@code Credit} of the client; valid also for an ended tunnel. */
  public Outcome credit(long call, long limit, long received) {
    assert loop.isCurrent();
    TunnelHalf half = halves.get(call);
    return half == null || !half.isOpen() || half.credit(limit, received)
        ? Outcome.TAKEN
        : Outcome.WRONG;
  }

  /** Ends an open tunnel at the client's request. Returns false if there is none. */
  public boolean reset(long call, TunnelEnding end) {
    assert loop.isCurrent();
    TunnelHalf half = halves.get(call);
    if (half == null || !half.isOpen()) {
      return false;
    }
    half.reset(end);
    return true;
  }

  /**
   * Ends a tunnel because of an invalid frame of the client; both ends are notified. Returns false
   * if there is none.
   */
  public boolean fail(long call, TunnelEnding end) {
    TunnelHalf half = halves.get(call);
    if (half == null || !half.isOpen()) {
      return false;
    }
    half.fail(end);
    return true;
  }

  // ---- To the client

  /** Sends a frame, and records its tunnel until it is written. */
  void send(TunnelHalf half, long end, Delivery frame) {
    if (closed) {
      frame.release();
      return;
    }
    order.add(half, end);
    ends.send(frame);
  }

  /** Called when frames of {@link TunnelEnds#send} were written to the socket, in order. */
  public void written(long frames) {
    assert loop.isCurrent();
    TunnelHalf before = null;
    while (order.taken() < frames && !order.isEmpty()) {
      TunnelHalf half = order.half();
      long end = order.end();
      order.remove();
      if (half == null) {
        endingBytes -= end;
      }
      if (before != null && before != half) {
        before.sendGrant();
      }
      if (half != null) {
        half.wrote(end);
      }
      before = half;
    }
    if (before != null) {
      // Once for all consecutive frames.
      before.sendGrant();
    }
  }

  /**
   * Records that an end frame was sent in order with the others.
   *
   * @param bytes bytes of the frame
   */
  public void sentEnding(int bytes) {
    order.add(null, bytes);
    endingBytes += bytes;
  }

  /** Called when the other end has ended a tunnel. */
  void ended(long call, TunnelEnding end) {
    long waiting = room.held() + endingBytes + end.details().length;
    ends.ended(call, waiting > settings.shared() / 2 ? end.inShort() : end);
  }

  /** Called when a closed tunnel's last frame was written. */
  void drained() {
    draining--;
  }

  /** Called when a caller's end opens. */
  void open() {
    stats.tunnels.add(1);
    opened++;
    ends.openedOrLeft();
  }

  /** Returns the number of open tunnels that the client has begun. */
  public int opened() {
    return opened;
  }

  void count(int payload) {
    stats.tunnelBytes.add(payload);
  }

  void forget(TunnelHalf half, boolean open, long unsent) {
    halves.remove(half.call());
    held.release(HALF_BYTES, 0);
    late += unsent;
    if (!half.window().isWritten()) {
      draining++;
    }
    if (open && half.call() > 0) {
      stats.tunnels.add(-1);
      opened--;
      ends.openedOrLeft();
    }
  }

  /**
   * Ends all tunnels with the connection, now or, if there are many, in later turns. Until then
   * frames for them are discarded. A second call does nothing.
   */
  public void close() {
    assert loop.isCurrent();
    if (closed) {
      return;
    }
    closed = true;
    order.clear();
    Iterator<TunnelHalf> left = new ArrayList<>(halves.values()).iterator();
    if (left.hasNext()) {
      loop.inSlices(
          () -> {
            if (left.hasNext()) {
              TunnelHalf half = left.next();
              half.reset(half.call() > 0 ? CALLER_GONE : MEMBER_GONE);
            }
            return left.hasNext();
          });
    }
  }

  /** Returns the number of open or requested tunnels. */
  public int size() {
    return halves.size();
  }

  TunnelLoop loop() {
    return loop;
  }

  TunnelEnds ends() {
    return ends;
  }

  TunnelRoom room() {
    return room;
  }
}
