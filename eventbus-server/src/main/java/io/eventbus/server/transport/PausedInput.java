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
final class PausedInput {
  private final BusMemory memory;
  private final SingleWriterCounter bytes = new SingleWriterCounter();
  private @Nullable ByteBuf message;
  private @Nullable Deque<ByteBuf> behind;
  private int messageBytes;
  private int bytesBehind;
  private boolean isPiece;
  private boolean waiting;
  private long receivedNanos;

  PausedInput(BusMemory memory) {
    this.memory = memory;
  }

  /** Whether anything waits: a message, or what follows before it is looked at. */
  boolean isWaiting() {
    return waiting;
  }

  /** What comes from now on waits, though no message does. */
  void hold(long nowNanos) {
    waiting = true;
    receivedNanos = nowNanos;
  }

  /** Nothing waits any more, but what is kept. */
  void goOn() {
    waiting = false;
  }

  /** When the message that waits was received; what came behind it came at about the same time. */
  long receivedNanos() {
    return receivedNanos;
  }

  /** Whether a message waits whose bytes count as memory of pieces. */
  boolean holdsPiece() {
    return message != null && isPiece;
  }

  /**
   * Takes over the rest of a message.
   *
   * @param asPiece whether its bytes count as memory of pieces, and not here
   * @param counted the bytes that are held because of it
   */
  void park(ByteBuf rest, boolean asPiece, int counted, long nowNanos) {
    message = rest;
    isPiece = asPiece;
    messageBytes = counted;
    waiting = true;
    // The wait counts for the latency of what is parked.
    receivedNanos = nowNanos;
    count(messageBytes);
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
    bytesBehind += in.capacity();
    count(in.capacity());
  }

  /** Bytes held behind the message. */
  int bytesBehind() {
    return bytesBehind;
  }

  /** Gives the message that waits to the caller; null for none. */
  @Nullable ByteBuf takeMessage() {
    ByteBuf taken = message;
    message = null;
    if (taken != null) {
      count(-messageBytes);
    }
    return taken;
  }

  /** Gives the first buffer behind the message to the caller; null for none. */
  @Nullable ByteBuf takeNext() {
    ByteBuf next = behind == null ? null : behind.pollFirst();
    if (next != null) {
      bytesBehind -= next.capacity();
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
    waiting = false;
    if (message != null) {
      message.release();
      message = null;
    }
    if (behind != null) {
      behind.forEach(ByteBuf::release);
      behind = null;
      bytesBehind = 0;
    }
    memory.release(bytes.get());
    bytes.add(-bytes.get());
  }
}
