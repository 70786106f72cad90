package io.eventbus.server.transport;

import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.stats.SingleWriterCounter;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What has come in and cannot be handled yet: the rest of one message, and the buffers behind it.
 * It is bounded by what was read before reading stopped, and counted. Confined to the connection's
 * loop but for {@link #held}.
 */
final class ParkedInput {
  private final BusMemory memory;
  private final SingleWriterCounter bytes = new SingleWriterCounter();
  private @Nullable ByteBuf message;
  private @Nullable Deque<ByteBuf> behind;
  private long receivedNanos;

  ParkedInput(BusMemory memory) {
    this.memory = memory;
  }

  /** Whether a message waits. */
  boolean isWaiting() {
    return message != null;
  }

  /** When the message that waits was received; what came behind it came at about the same time. */
  long receivedNanos() {
    return receivedNanos;
  }

  /** Takes over the rest of a message. */
  void park(ByteBuf rest, long nowNanos) {
    message = rest;
    // The wait counts for the latency of what is parked.
    receivedNanos = nowNanos;
    count(rest.readableBytes());
  }

  /** Takes over a buffer; first or last of those behind the message. */
  void keep(ByteBuf in, boolean first) {
    Deque<ByteBuf> kept = behind;
    if (kept == null) {
      kept = new ArrayDeque<>(2);
      behind = kept;
    }
    if (first) {
      kept.addFirst(in);
    } else {
      kept.addLast(in);
    }
    count(in.capacity());
  }

  /** Gives the message that waits to the caller; null for none. */
  @Nullable ByteBuf takeMessage() {
    ByteBuf taken = message;
    message = null;
    if (taken != null) {
      count(-taken.readableBytes());
    }
    return taken;
  }

  /** Gives the first buffer behind the message to the caller; null for none. */
  @Nullable ByteBuf takeNext() {
    ByteBuf next = behind == null ? null : behind.pollFirst();
    if (next != null) {
      count(-next.capacity());
    }
    return next;
  }

  /**
   * A message that is parked may lie in one of the buffers that are kept, and then counts twice:
   * better than not at all where it was put together from pieces.
   */
  private void count(int change) {
    bytes.add(change);
    memory.change(change);
  }

  /** Bytes held; any thread. */
  long held() {
    return bytes.get();
  }

  /** Frees all. */
  void clear() {
    if (message != null) {
      message.release();
      message = null;
    }
    if (behind != null) {
      behind.forEach(ByteBuf::release);
      behind = null;
    }
    memory.release(bytes.get());
    bytes.add(-bytes.get());
  }
}
