package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;

/**
 * How much may be sent to one client by way of one tunnel: its own limit, and of that as much as
 * the bus has room for. Absolute numbers, as {@code Data} and {@code Credit} count. Confined to the
 * loop that owns the client's connection.
 *
 * <p>It begins with what is always left for each tunnel and doubles whenever the sender has used up
 * most of what it was told, so that tunnels that are idle hold little of what all share.
 *
 * <pre>
 *   written <= queued <= told <= limit;  told - written is held of what all share
 * </pre>
 */
final class TunnelWindow {
  /** Raises by less than a quarter of the window that are told between two frames of the sender. */
  private static final int MAX_SMALL_RAISES = 8;

  private final TunnelRoom room;
  // What the client takes.
  private long limit;
  // What the sender was told.
  private long told;
  // The end of the last frame that waits for the client, or was written to it.
  private long queued;
  // The end of the last frame that was written to it.
  private long written;
  // How far told is to be ahead of written.
  private long window;
  private int smallRaises;

  TunnelWindow(TunnelRoom room, long limit) {
    this.room = room;
    this.limit = limit;
    this.window = room.least();
    this.told = Math.min(limit, window);
    check();
  }

  private void check() {
    assert written <= queued && queued <= told && told <= limit : this;
  }

  /** What the sender was told. */
  long told() {
    return told;
  }

  /** The end of the last frame that waits for the client, or was written to it. */
  long queued() {
    return queued;
  }

  /** The client takes more. */
  void limit(long to) {
    limit = Math.max(limit, to);
  }

  /** A frame waits for the client from now on. */
  void queue(long end) {
    queued = end;
    smallRaises = 0;
    check();
  }

  /** The oldest frame that waits has been written. */
  void wrote(long end) {
    move(told, end);
  }

  /** How far the sender may be ahead now: twice as far if it has used up most of what it had. */
  private long size() {
    return room.fit(told - queued < window / 2 ? 2 * window : window, told - written);
  }

  /**
   * Says whether the sender should be told of more: of a quarter of the window, or of less if it
   * has little left. A client that raises its limit byte by byte causes a frame for each only a few
   * times, until the sender has used some of it.
   */
  boolean isDue() {
    long left = told - queued;
    long more = Math.min(limit, written + size()) - told;
    return more > 0
        && (more >= window / 4
            || (left < window / 4 && (smallRaises < MAX_SMALL_RAISES || more >= left)));
  }

  /** The sender is told of more; returns how far it may go. */
  long tell() {
    long before = told;
    long quarter = window / 4;
    window = Math.max(room.least(), size());
    move(Math.max(told, Math.min(limit, written + window)), written);
    smallRaises += told - before < quarter ? 1 : 0;
    return told;
  }

  /** No more comes; what waits is held until it is written. */
  void close() {
    move(queued, written);
  }

  /** Says whether nothing waits. */
  boolean isWritten() {
    return written == queued;
  }

  private void move(long toldNow, long writtenNow) {
    room.change(
        Math.max(0, told - written - room.least()),
        Math.max(0, toldNow - writtenNow - room.least()));
    told = toldNow;
    written = writtenNow;
    check();
  }

  /** Whether a frame may come, as far as the limit goes. */
  static boolean fits(long offset, int payload, long limit) {
    // Not offset + cost: that may be over the end of what a long holds.
    return TunnelFrames.cost(payload) <= limit - offset;
  }

  @Override
  public String toString() {
    return "written " + written + ", queued " + queued + ", told " + told + ", limit " + limit;
  }
}
