package io.eventbus.server.session;

import io.eventbus.server.routing.ServiceShare;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a client that takes part in calls has sent behind an event that waits for room, the event
 * included: so that its requests and answers, which come over the same connection, need not wait
 * for that. Bounded by one message and by what the connection may make the bus hold for services;
 * what comes then has to wait. Confined to the loop.
 */
final class PublishBacklog {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final ServiceShare share;
  private final int bound;
  private final Runnable resume;
  // From position to limit: frames.
  private ByteBuffer frames = NOTHING;
  private boolean waiting;
  private long receivedNanos;
  private long receivedAt;
  private @Nullable Runnable whenHandled;

  /**
   * Makes an empty backlog.
   *
   * @param share account of what the connection makes the bus hold for services
   * @param bound bytes that it holds at most
   * @param resume called by any thread when there may be room for the event
   */
  PublishBacklog(ServiceShare share, int bound, Runnable resume) {
    this.resume = resume;
    this.share = share;
    this.bound = bound;
  }

  /** Whether something waits, so that what comes has to wait behind it. */
  boolean isWaiting() {
    return waiting;
  }

  /** Whether the connection waits until all is handled. */
  boolean isFull() {
    return whenHandled != null;
  }

  /** From now on frames wait; when they came counts as the same for all. */
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
   * Adds a frame.
   *
   * @param retry called once when all is handled, if there is no room
   * @return false if there is no room; then nothing was done
   */
  boolean add(ByteBuffer in, int from, int to, Runnable retry) {
    int more = to - from;
    int held = frames.remaining();
    if (more > bound - held
        || (more > frames.capacity() - frames.limit() && !makeRoom(held + more))) {
      whenHandled = retry;
      return false;
    }
    int end = frames.limit();
    frames.limit(end + more);
    frames.put(end, in, from, more);
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

  /** The frames that wait, from position to limit. */
  ByteBuffer frames() {
    return frames;
  }

  /** Everything before this has been handled. */
  void handledTo(int position) {
    frames.position(position);
  }

  /** Everything has been handled; what comes need not wait any more. */
  void handledAll() {
    clear();
    Runnable retry = whenHandled;
    whenHandled = null;
    if (retry != null) {
      retry.run();
    }
  }

  /** Frees what waits. */
  void clear() {
    waiting = false;
    share.release(frames.capacity(), 0);
    frames = NOTHING;
  }
}
