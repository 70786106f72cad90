package io.eventbus.server.session;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TypeCode;
import io.eventbus.server.memory.ServiceShare;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Frames that a client with calls has sent after an event that waits for room, including the event:
 * its requests and answers on the same connection need not wait. Bounded by one message and by the
 * connection's part of the memory for services; further frames have to wait. Confined to the loop.
 */
final class PublishBacklog {
  /** Frames that bypass a stalled publish. */
  private static final Set<TypeCode> BYPASSING =
      EnumSet.of(
          TypeCode.REGISTER,
          TypeCode.UNREGISTER,
          TypeCode.REQUEST,
          TypeCode.REPLY,
          TypeCode.FAILURE,
          TypeCode.CANCEL,
          TypeCode.DATA,
          TypeCode.CAPACITY,
          TypeCode.CREDIT,
          TypeCode.ECHO);

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final LoopContext loop;
  private final ConnectionControl connection;
  private final Session session;
  private final ServiceShare share;
  private final int bound;
  private final Runnable resume = this::resume;
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
   */
  PublishBacklog(
      LoopContext loop, ConnectionControl connection, Session session, ServiceShare share) {
    this.loop = loop;
    this.connection = connection;
    this.session = session;
    this.share = share;
    this.bound = loop.bus.limits().messageBytes();
  }

  /** Returns whether a frame of this type has to wait behind the event. */
  boolean mustHold(int typeCode) {
    return waiting && !BYPASSING.contains(TypeCode.of(typeCode));
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

  /** Returns the task to call, by any thread, when there may be room for the event. */
  Runnable retry() {
    return resume;
  }

  private void resume() {
    connection.execute(() -> connection.inTurn(this::handle));
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

  private void handle() {
    if (!waiting || session.isClosed()) {
      return;
    }
    session.received(receivedNanos, receivedAt);
    ByteBuffer bytes = frames;
    FrameCursor cursor = loop.frames.wrap(bytes, bytes.position(), bytes.limit());
    try {
      while (!session.isClosed() && cursor.next()) {
        if (loop.budget().mustYield()) {
          bytes.position(cursor.frameStart());
          connection.inTurn(this::handle);
          return;
        }
        if (!session.onFrame(bytes, cursor, receivedNanos, resume)) {
          bytes.position(cursor.frameStart());
          return;
        }
        loop.budget().spend(1);
      }
    } catch (MalformedFrameException e) {
      session.onMalformed(e, cursor.typeCode());
    }
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
