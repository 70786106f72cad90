package io.eventbus.server.transport;

import io.eventbus.server.delivery.Delivery;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Deliveries on their way from a connection's queue to the network. Many clients may share their
 * bytes, which are held once: each is kept until the network has taken it, and does not count as
 * the connection's own. Confined to the connection's loop.
 */
final class SharedWrites {
  /** Memory that Netty adds to each pending write. */
  private static final int ENTRY_BYTES = 96;

  /** Delivery and the total bytes written up to its end. */
  private record Under(Delivery delivery, long bytes, long end) {}

  // Made when first needed: what is small is copied.
  private @Nullable ArrayDeque<Under> underWay;
  private long written;
  private long shared;

  /** Counts bytes that are given to the channel. */
  void wrote(int bytes) {
    written += bytes + ENTRY_BYTES;
  }

  /** Keeps a delivery whose bytes were given to the channel; takes over the caller's reference. */
  void wrote(Delivery delivery, int bytes) {
    wrote(bytes);
    if (underWay == null) {
      underWay = new ArrayDeque<>(2);
    }
    underWay.add(new Under(delivery, bytes, written));
    shared += bytes;
  }

  /** Releases what the network has taken. */
  long settle(long pending) {
    if (underWay != null) {
      release(underWay, pending);
    }
    return Math.max(0, pending - shared);
  }

  private void release(ArrayDeque<Under> queue, long pending) {
    long taken = written - pending;
    for (Under first = queue.peek();
        first != null && (pending == 0 || first.end() <= taken);
        first = queue.peek()) {
      queue.remove();
      shared -= first.bytes();
      first.delivery().release();
    }
  }

  /** Returns the bytes that the network has taken since the beginning, given those pending. */
  long taken(long pending) {
    return written - pending;
  }

  /** Releases everything, at the end of the connection. */
  void close() {
    settle(0);
  }
}
