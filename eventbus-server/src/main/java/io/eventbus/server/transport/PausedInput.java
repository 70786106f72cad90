package io.eventbus.server.transport;

import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.SingleWriterCounter;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Input that cannot be handled yet: the rest of one message, and the buffers behind it. It is
 * bounded by what was read before reading stopped, and counted. Confined to the connection's loop
 * but for {@link #held}.
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

  /** Returns whether anything waits: a message, or input that is not decoded yet. */
  boolean isWaiting() {
    return waiting;
  }

  /** Holds further input, though no message waits. */
  void hold(long nowNanos) {
    waiting = true;
    receivedNanos = nowNanos;
  }

  /** Stops holding, except for the buffers that are kept. */
  void resume() {
    waiting = false;
  }

  /**
   * Returns when the waiting message was received; what is behind it came at about the same time.
   */
  long receivedNanos() {
    return receivedNanos;
  }

  /** Returns whether a message waits whose bytes count as memory of pieces. */
  boolean holdsPiece() {
    return message != null && isPiece;
  }

  /**
   * Parks the rest of a message, and takes it over.
   *
   * @param asPiece whether its bytes count as memory of pieces, and not here
   * @param counted the bytes that are held because of it
   */
  void pause(ByteBuf rest, boolean asPiece, int counted, long nowNanos) {
    message = rest;
    isPiece = asPiece;
    messageBytes = counted;
    waiting = true;
    // The wait counts for the latency of what is paused.
    receivedNanos = nowNanos;
    count(messageBytes);
  }

  /** Keeps a buffer, first or last of those behind the message, and takes it over. */
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

  /** Returns the bytes held behind the message. */
  int bytesBehind() {
    return bytesBehind;
  }

  /** Removes and returns the waiting message; null for none. */
  @Nullable ByteBuf takeMessage() {
    ByteBuf taken = message;
    message = null;
    if (taken != null) {
      count(-messageBytes);
    }
    return taken;
  }

  /** Removes and returns the first buffer behind the message; null for none. */
  @Nullable ByteBuf takeNext() {
    ByteBuf next = behind == null ? null : behind.pollFirst();
    if (next != null) {
      bytesBehind -= next.capacity();
      count(-next.capacity());
    }
    return next;
  }

  /**
   * Counts bytes. A paused message may lie in a kept buffer and then counts twice, which is better
   * than not at all for an assembled message.
   */
  private void count(int change) {
    bytes.add(change);
    memory.change(change);
  }

  /** Returns the bytes held; any thread. */
  long held() {
    return bytes.get();
  }

  /** Releases everything. */
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
