package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.TunnelFrames;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What one end of a tunnel receives, until it is read; and how much the other end may send. Guarded
 * by its own lock, which is held for moments and under which nothing is called.
 *
 * <pre>
 *   read <= received <= told
 * </pre>
 */
final class TunnelInput {
  /** A part of a message; the bytes are not changed. */
  @SuppressWarnings("ArrayRecordComponent")
  record Part(byte[] bytes, boolean more) {}

  private final Deque<Part> parts = new ArrayDeque<>();
  private final int mostWindow;
  private int window;
  private long read;
  private long received;
  private long told;
  // Since the window was made larger.
  private long readSince;
  private boolean ended;
  private boolean inMessage;
  private @Nullable EventBusException failure;
  private Runnable onChange = () -> {};

  /** Makes one; the other end was told that it may send as much as the window. */
  TunnelInput(TunnelOptions options) {
    this.window = options.windowBytes();
    this.mostWindow = options.mostWindowBytes();
    this.told = window;
  }

  /** Sets what is run when there is something to read, or the end; must not block. */
  void onChange(Runnable task) {
    synchronized (this) {
      onChange = task;
    }
    task.run();
  }

  /**
   * A frame has come.
   *
   * @return what is wrong with it, or null
   */
  @Nullable String add(DataView data, ByteBuffer message) {
    Runnable changed;
    synchronized (this) {
      if (failure != null) {
        return null;
      }
      if (ended) {
        return "Data after the last one";
      }
      if (data.offset() != received) {
        return "Data.offset: " + data.offset() + " (expected: " + received + ")";
      }
      int cost = TunnelFrames.cost(data.payloadLength());
      if (cost > told - received) {
        return "Data that ends at " + (received + cost) + " (expected: at most " + told + ")";
      }
      byte[] bytes = new byte[data.payloadLength()];
      message.get(data.payloadStart(), bytes);
      received += cost;
      ended = data.last();
      if (ended && bytes.length == 0 && !inMessage) {
        // An end by itself is no message.
        read += cost;
      } else {
        parts.addLast(new Part(bytes, data.more()));
      }
      inMessage = data.more();
      notifyAll();
      changed = onChange;
    }
    changed.run();
    return null;
  }

  /** Nothing comes, and the other end knows. */
  synchronized void endSilently() {
    ended = true;
  }

  /** Nothing more comes; what is here can still be read. */
  void fail(EventBusException why) {
    Runnable changed;
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = why;
      notifyAll();
      changed = onChange;
    }
    changed.run();
  }

  /** What is here is not wanted. */
  synchronized void discard() {
    parts.clear();
  }

  /** Takes the next part; null if there is none now. */
  synchronized @Nullable Part poll() {
    Part part = parts.pollFirst();
    if (part != null) {
      long cost = TunnelFrames.cost(part.bytes().length);
      read += cost;
      readSince += cost;
      if (parts.isEmpty() && readSince >= window && window < mostWindow) {
        // It is read faster than it comes.
        window = (int) Math.min(mostWindow, 2L * window);
        readSince = 0;
      }
    }
    return part;
  }

  /** Waits for the next part; null at the end. Throws what has ended it. */
  synchronized @Nullable Part await() throws InterruptedException {
    while (parts.isEmpty() && !ended && failure == null) {
      wait();
    }
    Part part = poll();
    EventBusException why = failure;
    if (part == null && !ended && why != null) {
      throw why;
    }
    return part;
  }

  synchronized int available() {
    Part first = parts.peekFirst();
    return first == null ? 0 : first.bytes().length;
  }

  /** Says whether all has come and was read. */
  synchronized boolean isAtEnd() {
    return ended && parts.isEmpty();
  }

  /** Says whether the other end has ended its messages. */
  synchronized boolean hasEnded() {
    return ended;
  }

  /** Why nothing more comes, if nothing is left to read before it. */
  synchronized @Nullable EventBusException failure() {
    return parts.isEmpty() && !ended ? failure : null;
  }

  /** The other end is to be told so much; null if that is not worth a frame. */
  synchronized @Nullable Credit takeCredit() {
    long limit = read + window;
    if (ended || failure != null || limit - told < window / 4) {
      return null;
    }
    told = limit;
    return new Credit(limit, received);
  }

  /** What the other end is told. */
  record Credit(long limit, long received) {}
}
