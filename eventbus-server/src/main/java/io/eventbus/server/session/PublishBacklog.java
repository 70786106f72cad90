package io.eventbus.server.session;

import io.eventbus.server.memory.ServiceShare;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frames that a client with calls has sent after an event that waits for room, including the event:
 * its requests and answers on the same connection need not wait. Bounded by one message and by the
 * connection's part of the memory for services; further frames have to wait. Confined to the loop.
 */
final class PublishBacklog {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final ServiceShare share;
  private final int bound;
  private final Runnable resume;
  // Frames from position to limit.
  private ByteBuffer frames = NOTHING;
  private boolean waiting;
  private long receivedNanos;
  private long receivedAt;
  private @Nullable Runnable whenHandled;

  /**
   * Creates an empty backlog.
   *
   * @param share account for the memory that the connection uses for services
   * @param bound maximum bytes of the backlog
   * @param resume called by any thread when there may be room for the event
   */
  PublishBacklog(ServiceShare share, int bound, Runnable resume) {
    this.resume = resume;
    this.share = share;
    this.bound = bound;
  }

  /** Returns whether the backlog is non-empty, so that further frames have to wait behind it. */
  boolean isWaiting() {
    return waiting;
  }

  /** Returns whether the connection waits until the whole backlog is handled. */
  boolean isFull() {
    return whenHandled != null;
  }

  /** Starts a backlog; all its frames count as received at this time. */
  void begin(long nanos, long at) {
    waiting = true;
    receivedNanos = nanos;
    receivedAt = at;
  }

  long receivedNanos() {
    return receivedNanos;
  }

  long receivedAt() {
    return receivedAt;
  }

  Runnable resume() {
    return resume;
  }

  /**
   * Adds a frame. Returns false if there is no room; then nothing was done.
   *
   * @param retry called once when the whole backlog is handled, if there is no room
   */
  boolean add(ByteBuffer in, int from, int to, Runnable retry) {
    int added = to - from;
    int held = frames.remaining();
    if (added > bound - held
        || (added > frames.capacity() - frames.limit() && !makeRoom(held + added))) {
      whenHandled = retry;
      return false;
    }
    int end = frames.limit();
    frames.limit(end + added);
    frames.put(end, in, from, added);
    return true;
  }

  private boolean makeRoom(int needed) {
    int capacity = frames.capacity();
    int larger = (int) Math.min(bound, Math.max(4096, 2L * needed));
    if (needed <= capacity / 2
        || capacity == bound
        || share.acquire(larger - capacity, 0) != null) {
      frames.compact().flip();
      return needed <= capacity;
    }
    frames = ByteBuffer.allocate(larger).put(frames).flip();
    return true;
  }

  /** Returns the waiting frames, from position to limit. */
  ByteBuffer frames() {
    return frames;
  }

  /** Discards the frames before the position, which have been handled. */
  void handledTo(int position) {
    frames.position(position);
  }

  /** Ends the backlog when all its frames have been handled. */
  void handledAll() {
    clear();
    Runnable retry = whenHandled;
    whenHandled = null;
    if (retry != null) {
      retry.run();
    }
  }

  /** Frees the waiting frames. */
  void clear() {
    waiting = false;
    share.release(frames.capacity(), 0);
    frames = NOTHING;
  }
}
