package io.eventbus.client.tyrus;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Direct buffers to send from, shared by all connections: their content goes to the socket without
 * a further copy. Any thread may use it.
 */
final class SendBuffers {
  /** Size of a whole batch of the default size with its head. */
  static final int BYTES = 64 * 1024 + 64;

  private static final int MAX_BUFFERS = 32;

  private final Deque<ByteBuffer> free = new ArrayDeque<>();

  /** Acquires a buffer with room for that many bytes; a big one is on the heap, and is not kept. */
  ByteBuffer acquire(int bytes) {
    if (bytes > BYTES) {
      return ByteBuffer.allocate(bytes);
    }
    ByteBuffer buffer;
    synchronized (free) {
      buffer = free.pollLast();
    }
    return buffer != null ? buffer.clear() : ByteBuffer.allocateDirect(BYTES);
  }

  /** Releases a buffer that nobody uses any more. */
  void release(ByteBuffer buffer) {
    if (buffer.isDirect()) {
      synchronized (free) {
        if (free.size() < MAX_BUFFERS) {
          free.addLast(buffer);
        }
      }
    }
  }
}
