package io.eventbus.client.tyrus;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Direct buffers to send from, shared by all connections: what is in one goes to the socket without
 * a further copy. Any thread may use it.
 */
final class SendBuffers {
  /** A whole batch of the default size with its head. */
  static final int BYTES = 64 * 1024 + 64;

  private static final int MAX = 32;

  private final Deque<ByteBuffer> free = new ArrayDeque<>();

  /** Takes a buffer with room for so many bytes; a big one is on the heap, and is not kept. */
  ByteBuffer take(int bytes) {
    if (bytes > BYTES) {
      return ByteBuffer.allocate(bytes);
    }
    ByteBuffer buffer;
    synchronized (free) {
      buffer = free.pollLast();
    }
    return buffer != null ? buffer.clear() : ByteBuffer.allocateDirect(BYTES);
  }

  /** Takes a buffer back that nobody uses any more. */
  void give(ByteBuffer buffer) {
    if (buffer.isDirect()) {
      synchronized (free) {
        if (free.size() < MAX) {
          free.addLast(buffer);
        }
      }
    }
  }
}
