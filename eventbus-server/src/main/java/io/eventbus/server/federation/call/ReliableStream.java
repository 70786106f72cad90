package io.eventbus.server.federation.call;

import io.eventbus.server.federation.call.RetransmitQueue.Kept;
import io.eventbus.server.federation.protocol.PeerFrames;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Reliable end of a stream over all its connections: sends kept frames, counts received ones, and
 * acknowledges them. Confined to the loop.
 */
final class ReliableStream {
  /** Frames after which an acknowledgement is sent at once. */
  private static final long DUE_FRAMES = 64;

  private final LoopStreams loop;
  private final LongConsumer late;
  private final RetransmitQueue out;
  private @Nullable CallConnection connection;
  private long taken;
  private long acknowledged;
  private boolean ackScheduled;
  private boolean drainScheduled;
  private boolean ended;

  /**
   * Creates a stream without frames.
   *
   * @param late called for calls that are not sent, because their callers wait no more
   */
  ReliableStream(LoopStreams loop, LongConsumer late) {
    this.loop = loop;
    this.late = late;
    this.out = new RetransmitQueue(loop.lanes().memory());
  }

  RetransmitQueue out() {
    return out;
  }

  long taken() {
    return taken;
  }

  /** Returns the connection in use; null if there is none, or it is not welcomed yet. */
  @Nullable CallConnection connection() {
    return connection;
  }

  /**
   * Continues on a connection after the frames that the other end has received.
   *
   * @throws IllegalArgumentException if the other end claims unsent frames
   */
  void up(CallConnection by, long otherTaken) {
    loop.counters().resent.add(out.resume(otherTaken));
    connection = by;
    // The other end has just been told.
    acknowledged = taken;
    drainSoon();
  }

  void down() {
    connection = null;
  }

  /** Starts another session: nothing of this one is kept. */
  void clear() {
    out.clear();
    taken = 0;
    acknowledged = 0;
  }

  /** Ends with this bus: nothing is kept from now on, because nothing is sent again. */
  void end() {
    ended = true;
    clear();
  }

  /** Keeps a frame, and sends it soon; does nothing while this bus ends. */
  void send(Kept frame) {
    if (!ended) {
      out.add(frame);
      drainSoon();
    }
  }

  /** Counts a numbered frame that was handled. */
  void onHandled() {
    taken++;
  }

  void drainSoon() {
    if (!drainScheduled && connection != null) {
      drainScheduled = true;
      loop.lanes().execute(this::drain);
    }
  }

  private void drain() {
    drainScheduled = false;
    CallConnection to = connection;
    if (to == null) {
      return;
    }
    try {
      boolean wrote = false;
      while (out.hasUnsent() && to.isWritable()) {
        to.write(out);
        wrote = true;
      }
      out.removeLate().forEach(late::accept);
      if (taken > acknowledged) {
        // An acknowledgement now costs no extra write.
        wrote |= writeAcknowledgement(to);
      }
      if (wrote) {
        to.flush();
      }
    } catch (RuntimeException | Error e) {
      to.fail(e);
    }
  }

  private boolean writeAcknowledgement(CallConnection to) {
    acknowledged = taken;
    to.write(PeerFrames.encode(PeerFrames.LANE_ACK, taken));
    return true;
  }

  /** Acknowledges, if due, when all received frames were handled. */
  void onReadEnd() {
    if (taken == acknowledged || ackScheduled || drainScheduled) {
      return;
    }
    if (taken - acknowledged >= DUE_FRAMES) {
      acknowledge();
    } else {
      ackScheduled = true;
      loop.lanes()
          .later(
              () -> {
                ackScheduled = false;
                acknowledge();
              });
    }
  }

  private void acknowledge() {
    CallConnection to = connection;
    if (to != null && taken > acknowledged && writeAcknowledgement(to)) {
      to.flush();
    }
  }
}
