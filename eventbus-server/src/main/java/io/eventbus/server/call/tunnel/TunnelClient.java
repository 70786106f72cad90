package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.NumberMap;
import io.eventbus.server.routing.ServiceShare;
import io.eventbus.server.stats.CallStats;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The ends of streams and tunnels at one connection, of those that it has begun and of those that
 * it serves. Made with the first. Confined to the loop that owns the connection.
 */
public final class TunnelClient {
  /** What became of a frame of the client. */
  public enum Outcome {
    /** It was right, or came too late to be wrong. */
    TAKEN,
    /** It is of no tunnel of this connection, or has ended one: too many of these end it. */
    WRONG
  }

  /** Heap of an end, in bytes, with its place among those of its connection. */
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
  // What may come for tunnels that have ended, because the client did not know.
  private long late;
  // Those that have ended, and of which something waits to be written.
  private int draining;
  // Of frames that say how tunnels have ended, and wait to be written.
  private long endingBytes;
  // Why there is no room for what was asked for last.
  private @Nullable String refusal;
  private int opened;
  private boolean closed;

  /**
   * Makes one.
   *
   * @param shortOfMemory whether the bus has so little memory that senders get only the least
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
   * Says why there was no room for the one that was {@linkplain #request requested} last.
   *
   * @return null if there was
   */
  public @Nullable String refusal() {
    return refusal;
  }

  /** Why there was no room for the one that was accepted last; null if there was. */
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
   * Begins one for a caller, which waits for a member to accept it.
   *
   * @return its end; null if there is one with that number, or no {@linkplain #refusal room}
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
          "how others have ended waits to be read: "
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

  /**
   * Returns the end of a call that waits for a member.
   *
   * @return null if there is none
   */
  public @Nullable TunnelHalf requested(long call) {
    TunnelHalf half = halves.get(call);
    return half == null || half.isOpen() ? null : half;
  }

  /** The call of a tunnel has ended before a member accepted it. */
  public void refused(long call) {
    TunnelHalf half = requested(call);
    if (half != null) {
      half.end();
    }
  }

  /**
   * The client has accepted a tunnel; {@link TunnelHalf#endIfTooMany} has to follow when the caller
   * is told.
   */
  public TunnelHalf accept(long call, long limit, TunnelHalf caller) {
    assert loop.isCurrent();
    refusal = held.acquire(HALF_BYTES, 0);
    if (refusal != null) {
      // Until the caller is told.
      held.add(HALF_BYTES);
    }
    TunnelHalf half = new TunnelHalf(this, call, limit, caller);
    halves.put(call, half);
    return half;
  }

  // ---- From the client

  /**
   * Takes a {@code Data} of the client.
   *
   * @param offset where it begins
   * @param payload bytes
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

  /** Takes a {@code Credit} of the client. One for a tunnel that has ended is right. */
  public Outcome credit(long call, long limit, long received) {
    assert loop.isCurrent();
    TunnelHalf half = halves.get(call);
    return half == null || !half.isOpen() || half.credit(limit, received)
        ? Outcome.TAKEN
        : Outcome.WRONG;
  }

  /**
   * Ends a tunnel that is open, as the client asks for.
   *
   * @return false if there is no such tunnel
   */
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
   * Ends a tunnel because of what the client has sent; both ends are told.
   *
   * @return false if there is no such tunnel
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

  /** Sends a frame, and remembers whose it is until it is written. */
  void send(TunnelHalf half, long end, Delivery frame) {
    if (closed) {
      frame.release();
      return;
    }
    order.add(half, end);
    ends.send(frame);
  }

  /**
   * Frames that were sent with {@link TunnelEnds#send} have been given to the socket, in their
   * order.
   */
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
        before.tellSender();
      }
      if (half != null) {
        half.wrote(end);
      }
      before = half;
    }
    if (before != null) {
      // Once for all frames in a row.
      before.tellSender();
    }
  }

  /**
   * A frame that says how a tunnel has ended was sent in its place among them.
   *
   * @param bytes of the frame
   */
  public void sentEnding(int bytes) {
    order.add(null, bytes);
    endingBytes += bytes;
  }

  /** The other end of a tunnel has ended it. */
  void ended(long call, TunnelEnding end) {
    long waiting = room.held() + endingBytes + end.details().length;
    ends.ended(call, waiting > settings.shared() / 2 ? end.inShort() : end);
  }

  /** All of one that has ended is written. */
  void drained() {
    draining--;
  }

  /** A caller's end is open. */
  void open() {
    stats.tunnels.add(1);
    opened++;
    ends.openedOrLeft();
  }

  /**
   * Returns how many are open that the client has begun.
   *
   * @return at least 0
   */
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
   * The connection has ended: so do its tunnels, now or, where there are many, in later turns.
   * Until then what comes for them is thrown away. A second call does nothing.
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

  /**
   * Returns how many are open or begun.
   *
   * @return at least 0
   */
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
