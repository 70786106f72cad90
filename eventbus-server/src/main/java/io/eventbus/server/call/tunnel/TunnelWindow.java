package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;

/**
 * Bytes that may be sent to one client in one tunnel: its own limit, reduced to the room at the
 * bus. Absolute numbers, as {@code Data} and {@code Credit} count. Confined to the loop that owns
 * the client's connection.
 *
 * <p>It starts with the minimum of each tunnel and doubles whenever the sender has used up most of
 * its credit, so that idle tunnels reserve little of the shared room.
 *
 * <pre>
 *   written <= queued <= granted <= limit;  granted - written is reserved of the shared room
 * </pre>
 */
final class TunnelWindow {
  /**
   * Credits of less than a quarter of the window that are sent between two frames of the sender.
   */
  private static final int MAX_SMALL_RAISES = 8;

  private final TunnelRoom room;
  // Credit of the client.
  private long limit;
  // Credit given to the sender.
  private long granted;
  // End of the last frame that waits for the client, or was written to it.
  private long queued;
  // End of the last frame that was written to it.
  private long written;
  // Target distance of told from written.
  private long window;
  private int smallRaises;

  TunnelWindow(TunnelRoom room, long limit) {
    this.room = room;
    this.limit = limit;
    this.window = room.minBytes();
    this.granted = Math.min(limit, window);
    check();
  }

  private void check() {
    assert written <= queued && queued <= granted && granted <= limit : this;
  }

  /** Returns the credit given to the sender. */
  long granted() {
    return granted;
  }

  /** Returns the end of the last frame that waits for the client, or was written to it. */
  long queued() {
    return queued;
  }

  /** Raises the credit of the client. */
  void limit(long to) {
    limit = Math.max(limit, to);
  }

  /** Adds a frame that waits for the client. */
  void queue(long end) {
    queued = end;
    smallRaises = 0;
    check();
  }

  /** Removes the oldest waiting frame, which was written. */
  void wrote(long end) {
    move(granted, end);
  }

  /**
   * Returns the distance that the sender may be ahead now: doubled if it has used up most of it.
   */
  private long size() {
    return room.fit(granted - queued < window / 2 ? 2 * window : window, granted - written);
  }

  /**
   * Returns whether the sender should get credit: for a quarter of the window, or for less if it
   * has little left. A client that raises its limit byte by byte causes a frame for each only a few
   * times, until the sender has used some of it.
   */
  boolean isDue() {
    long left = granted - queued;
    long more = Math.min(limit, written + size()) - granted;
    return more > 0
        && (more >= window / 4
            || (left < window / 4 && (smallRaises < MAX_SMALL_RAISES || more >= left)));
  }

  /** Gives the sender credit; returns its new end. */
  long grant() {
    long before = granted;
    long quarter = window / 4;
    window = Math.max(room.minBytes(), size());
    move(Math.max(granted, Math.min(limit, written + window)), written);
    smallRaises += granted - before < quarter ? 1 : 0;
    return granted;
  }

  /** Stops new frames; waiting ones are reserved until they are written. */
  void close() {
    move(queued, written);
  }

  /** Returns whether nothing waits. */
  boolean isWritten() {
    return written == queued;
  }

  private void move(long toldNow, long writtenNow) {
    room.change(
        Math.max(0, granted - written - room.minBytes()),
        Math.max(0, toldNow - writtenNow - room.minBytes()));
    granted = toldNow;
    written = writtenNow;
    check();
  }

  /** Returns whether the limit allows a frame. */
  static boolean fits(long offset, int payload, long limit) {
    // Not offset + cost, which may overflow.
    return TunnelFrames.cost(payload) <= limit - offset;
  }

  @Override
  public String toString() {
    return "written " + written + ", queued " + queued + ", told " + granted + ", limit " + limit;
  }
}
