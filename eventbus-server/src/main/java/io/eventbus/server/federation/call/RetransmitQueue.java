package io.eventbus.server.federation.call;

import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.memory.BusMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Frames of one direction of a stream, numbered from 1 in the order in which they are added: kept
 * until they are acknowledged, to be sent again if a connection ends before that. Confined to the
 * loop.
 *
 * <p>All bytes count as the bus's memory. Callers that add frames check how much there is.
 */
final class RetransmitQueue {
  /** Estimated bytes of a frame in addition to its content. */
  private static final int OVERHEAD = 96;

  /**
   * Single frame.
   *
   * @param head bytes before the body; of a call, those after the remaining time
   * @param body last field; null for none
   * @param call of a call, the number of calls added before it; else -1
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Kept(byte[] head, @Nullable Delivery body, long call, long number, long deadlineNanos) {
    /** Creates a frame that is no call. */
    Kept(byte[] head, @Nullable Delivery body) {
      this(head, body, -1, 0, 0);
    }

    /**
     * Creates a call.
     *
     * @param before number of calls added before it
     */
    static Kept of(MemberInvocation i, ServiceKey service, long before) {
      byte[] head =
          BusCallFrames.callHead(
              i.call(),
              i.waiting(),
              i.isReturnable(),
              i.priority(),
              i.isIdempotent(),
              i.attempt(),
              i.onlyMember(),
              i.caller().producer(),
              i.request(),
              i.caller().identity(),
              service.account(),
              i.receivedAt(),
              i.schema(),
              service.name(),
              i.methodLength());
      return new Kept(head, i.body(), before, i.call(), i.deadlineNanos());
    }

    boolean isCall() {
      return call >= 0;
    }

    private int bytes() {
      return OVERHEAD + head.length;
    }

    private long allBytes() {
      Delivery held = body;
      return (long) bytes() + (held == null ? 0 : held.size());
    }
  }

  private final BusMemory memory;
  private final Deque<Kept> frames = new ArrayDeque<>();
  private final Deque<Kept> sentFrames = new ArrayDeque<>();
  private final List<Long> late = new ArrayList<>(0);
  // Number of the first kept frame, or of the next one.
  private long first = 1;
  private long written;
  private long bytes;

  RetransmitQueue(BusMemory memory) {
    this.memory = memory;
  }

  /** Adds a frame and retains its body. */
  void add(Kept frame) {
    Delivery body = frame.body();
    if (body != null) {
      body.retain();
    }
    memory.reserve(frame.bytes());
    bytes += frame.allBytes();
    frames.add(frame);
  }

  /** Returns the bytes of the kept frames. */
  long bytes() {
    return bytes;
  }

  boolean isEmpty() {
    return frames.isEmpty() && sentFrames.isEmpty();
  }

  boolean hasUnsent() {
    return !frames.isEmpty();
  }

  /**
   * Returns the next frame to send, which is kept; calls whose callers wait no more are left out.
   */
  @Nullable Kept peek(long nowNanos) {
    Kept next = frames.peek();
    while (next != null && next.isCall() && next.deadlineNanos() - nowNanos <= 0) {
      late.add(next.number());
      drop(frames.remove());
      next = frames.peek();
    }
    return next;
  }

  /** Returns the numbers of the calls left out since the last call. */
  List<Long> removeLate() {
    if (late.isEmpty()) {
      return List.of();
    }
    List<Long> taken = List.copyOf(late);
    late.clear();
    return taken;
  }

  /** Removes the calls that were never sent, and returns their numbers. */
  List<Long> removeUnsent() {
    List<Long> unsent = new ArrayList<>();
    frames.removeIf(
        frame -> {
          boolean never = frame.call() >= written;
          if (never) {
            unsent.add(frame.number());
            drop(frame);
          }
          return never;
        });
    return unsent;
  }

  /** Marks the peeked frame as sent. */
  void sent() {
    Kept frame = frames.remove();
    sentFrames.add(frame);
    if (frame.isCall()) {
      written = Math.max(written, frame.call() + 1);
    }
  }

  /** Returns how many of the added calls, from the first on, were sent. */
  long callsWritten() {
    return written;
  }

  /** Returns the number of the last sent frame. */
  private long lastSent() {
    return first + sentFrames.size() - 1;
  }

  /**
   * Removes all frames up to a number.
   *
   * @throws IllegalArgumentException if they were not sent
   */
  void acknowledged(long number) {
    if (number > lastSent()) {
      throw new IllegalArgumentException(
          "acknowledged: " + number + " (expected: at most " + lastSent() + ", which was sent)");
    }
    while (first <= number) {
      first++;
      drop(sentFrames.remove());
    }
  }

  private void drop(Kept frame) {
    memory.release(frame.bytes());
    bytes -= frame.allBytes();
    Delivery body = frame.body();
    if (body != null) {
      body.release();
    }
  }

  /**
   * Continues on a connection after the frames that the other end has received; the rest is sent
   * again. Returns the number of frames to resend.
   *
   * @throws IllegalArgumentException if the other end claims unsent frames
   */
  int resume(long taken) {
    acknowledged(taken);
    List<Kept> again = new ArrayList<>(sentFrames);
    sentFrames.clear();
    for (int i = again.size() - 1; i >= 0; i--) {
      frames.addFirst(again.get(i));
    }
    return again.size();
  }

  /** Removes all frames, and restarts at 1. */
  void clear() {
    sentFrames.forEach(this::drop);
    frames.forEach(this::drop);
    sentFrames.clear();
    frames.clear();
    first = 1;
    written = 0;
  }
}
