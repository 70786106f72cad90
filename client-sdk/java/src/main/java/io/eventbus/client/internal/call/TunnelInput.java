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
 * Receiving side of one end of a tunnel: what came, until it is read, and how much the other end
 * may send. Guarded by its own lock, which is held for moments and under which nothing is called.
 *
 * <pre>
 *   read <= received <= granted
 * </pre>
 */
final class TunnelInput {
  /** Part of a message; the bytes are not changed. */
  @SuppressWarnings("ArrayRecordComponent")
  record Part(byte[] bytes, boolean more) {}

  private final Deque<Part> parts = new ArrayDeque<>();
  private final int maxWindow;
  private int window;
  private long read;
  private long received;
  private long granted;
  // Since the window was enlarged.
  private long readSince;
  private boolean ended;
  private boolean inMessage;
  private @Nullable EventBusException failure;
  private Runnable onChange = () -> {};

  /** Creates an input; the other end was told that it may send as much as the window. */
  TunnelInput(TunnelOptions options) {
    this.window = options.windowBytes();
    this.maxWindow = options.mostWindowBytes();
    this.granted = window;
  }

  /** Sets the task that runs when there is something to read, or the end; must not block. */
  void onChange(Runnable task) {
    synchronized (this) {
      onChange = task;
    }
    task.run();
  }

  /** Takes a frame; returns the text of the error that it makes, or null for none. */
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
      if (cost > granted - received) {
        return "Data that ends at " + (received + cost) + " (expected: at most " + granted + ")";
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

  /** Ends the input; the other end knows already. */
  synchronized void endSilently() {
    ended = true;
  }

  /** Fails the input: nothing more comes; what is here can still be read. */
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

  /** Discards what is here. */
  synchronized void discard() {
    parts.clear();
  }

  /** Returns the next part; null if there is none now. */
  synchronized @Nullable Part poll() {
    Part part = parts.pollFirst();
    if (part != null) {
      long cost = TunnelFrames.cost(part.bytes().length);
      read += cost;
      readSince += cost;
      if (parts.isEmpty() && readSince >= window && window < maxWindow) {
        // Messages are read faster than they come.
        window = (int) Math.min(maxWindow, 2L * window);
        readSince = 0;
      }
    }
    return part;
  }

  /** Waits for the next part; returns null at the end. Throws the failure that has ended it. */
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

  /** Returns whether everything has come and was read. */
  synchronized boolean isAtEnd() {
    return ended && parts.isEmpty();
  }

  /** Returns whether the other end has ended its messages. */
  synchronized boolean hasEnded() {
    return ended;
  }

  /** Returns the failure that has ended it, if nothing is left to read before it. */
  synchronized @Nullable EventBusException failure() {
    return parts.isEmpty() && !ended ? failure : null;
  }

  /** Returns the credit that the other end is to be granted; null if that is not worth a frame. */
  synchronized @Nullable Credit takeCredit() {
    long limit = read + window;
    if (ended || failure != null || limit - granted < window / 4) {
      return null;
    }
    granted = limit;
    return new Credit(limit, received);
  }

  /** Credit for the other end. */
  record Credit(long limit, long received) {}
}
