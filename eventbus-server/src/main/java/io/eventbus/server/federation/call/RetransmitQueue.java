package io.eventbus.server.federation.call;

import io.eventbus.protocol.BusCallFrames;
import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.Delivery;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The frames of one direction of a stream, numbered from 1 in the order in which they are added:
 * kept until they are acknowledged, to be sent again if a connection ends before that. Confined to
 * the loop.
 *
 * <p>All of it counts as the bus's memory. How much there is, is for who adds to look at.
 */
final class RetransmitQueue {
  /** What a frame takes besides its bytes, by estimate. */
  private static final int OVERHEAD = 96;

  /**
   * A frame.
   *
   * @param head what comes before the body; of a call, what comes behind the time that is left
   * @param body the last field; null for none
   * @param call of a call, how many calls were added before it; else -1
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Kept(byte[] head, @Nullable Delivery body, long call, long number, long deadlineNanos) {
    /** Makes a frame that is no call. */
    Kept(byte[] head, @Nullable Delivery body) {
      this(head, body, -1, 0, 0);
    }

    /**
     * Makes a call.
     *
     * @param before how many calls were added before it
     */
    static Kept of(MemberInvocation i, ServiceKey service, long before) {
      byte[] head =
          BusCallFrames.callHead(
              i.call(),
              i.waiting(),
              i.mayComeBack(),
              i.urgency(),
              i.mayRepeat(),
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
  // The number of the first frame that is kept, or of the next one.
  private long first = 1;
  private long written;
  private long bytes;

  RetransmitQueue(BusMemory memory) {
    this.memory = memory;
  }

  /** Adds one; the body gets a reference more. */
  void add(Kept frame) {
    Delivery body = frame.body();
    if (body != null) {
      body.retain();
    }
    memory.reserve(frame.bytes());
    bytes += frame.allBytes();
    frames.add(frame);
  }

  /** Bytes that are kept. */
  long bytes() {
    return bytes;
  }

  boolean isEmpty() {
    return frames.isEmpty() && sentFrames.isEmpty();
  }

  boolean hasUnsent() {
    return !frames.isEmpty();
  }

  /** The next one to send, which is kept; calls whose callers wait no more are left out. */
  @Nullable Kept peek(long nowNanos) {
    Kept next = frames.peek();
    while (next != null && next.isCall() && next.deadlineNanos() - nowNanos <= 0) {
      late.add(next.number());
      drop(frames.remove());
      next = frames.peek();
    }
    return next;
  }

  /** Returns the numbers of the calls that were left out since this was asked last. */
  List<Long> takeLate() {
    if (late.isEmpty()) {
      return List.of();
    }
    List<Long> taken = List.copyOf(late);
    late.clear();
    return taken;
  }

  /** Forgets the calls that were never sent, and returns their numbers. */
  List<Long> takeUnsent() {
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

  /** What was peeked at is being sent. */
  void sent() {
    Kept frame = frames.remove();
    sentFrames.add(frame);
    if (frame.isCall()) {
      written = Math.max(written, frame.call() + 1);
    }
  }

  /** So many of the calls that were added, from the first on, were sent. */
  long callsWritten() {
    return written;
  }

  /** The number of the last one that was sent. */
  private long lastSent() {
    return first + sentFrames.size() - 1;
  }

  /**
   * The other end has all frames up to a number.
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
   * A connection goes on where the other end is: what it has not taken is to be sent again.
   *
   * @throws IllegalArgumentException if it has taken what was not sent
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

  /** Forgets everything, and begins at 1 again. */
  void clear() {
    sentFrames.forEach(this::drop);
    frames.forEach(this::drop);
    sentFrames.clear();
    frames.clear();
    first = 1;
    written = 0;
  }
}
