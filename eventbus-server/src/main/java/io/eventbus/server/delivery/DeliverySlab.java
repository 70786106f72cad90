package io.eventbus.server.delivery;

import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Buffer that many small deliveries share, one behind the other, so that neither the allocator nor
 * the bus's account of memory is touched for each of them.
 *
 * <p>The router of a loop fills it; the last release of a delivery, on any thread, releases it.
 * While it is open the filling loop holds {@link #MAX_REFERENCES} references and only counts how
 * many of them it has given away; at the end it releases the others. From then on the slab counts
 * as memory, whole, until its last delivery is gone. An open one does not count: there is one for
 * each loop. Deliveries that wait for a client are copied out of their slab, so that a few
 * deliveries of a slow client do not keep many slabs.
 */
final class DeliverySlab {
  /** Size of a slab, a few times that of its deliveries: one that waits keeps all of it. */
  static final int BYTES = 8 * 1024;

  /** Size of a slab for one client. */
  static final int OWN_BYTES = 4 * 1024;

  private static final int MAX_REFERENCES = 1 << 20;

  private final ByteBuf buffer;
  private final BusMemory memory;
  private final AtomicInteger references = new AtomicInteger(MAX_REFERENCES);
  private final int bytes;
  private final boolean own;
  // Written by the filling loop, while it has a reference.
  private long counted;
  // Confined to the filling loop.
  private int used;
  private int given;

  /**
   * Creates a slab.
   *
   * @param own whether it is for one client, of which there may be any number: then it counts as
   *     memory while it is open, too
   */
  DeliverySlab(ByteBufAllocator allocator, BusMemory memory, boolean own) {
    this.bytes = own ? OWN_BYTES : BYTES;
    this.buffer = allocator.directBuffer(bytes, bytes);
    this.memory = memory;
    this.own = own;
    buffer.writerIndex(bytes);
    count(own ? bytes : 0);
  }

  private void count(int more) {
    if (more > 0) {
      counted += more;
      memory.reserve(more);
    }
  }

  /** Acquires room and a reference for the filling loop; returns its start, or -1. */
  int tryAcquire(int size) {
    if (used + size > bytes) {
      return -1;
    }
    int start = used;
    used += size;
    given++;
    count(own ? Delivery.OVERHEAD : 0);
    return start;
  }

  /**
   * Starts at the beginning again, for the filling loop, unless somebody needs the content: bytes
   * on their way into a socket are held through the buffer. Returns false, and does nothing, if
   * somebody does.
   */
  boolean rewind() {
    if (references.get() != MAX_REFERENCES - given || buffer.refCnt() != 1) {
      return false;
    }
    references.set(MAX_REFERENCES);
    if (own) {
      memory.release((long) given * Delivery.OVERHEAD);
      counted = bytes;
    }
    given = 0;
    used = 0;
    return true;
  }

  ByteBuf buffer() {
    return buffer;
  }

  /** Closes the slab, for the filling loop: nothing more is added. */
  void close() {
    count(own ? 0 : bytes + given * Delivery.OVERHEAD);
    drop(MAX_REFERENCES - given);
  }

  /** Releases a delivery; any thread. */
  void release() {
    drop(1);
  }

  private void drop(int count) {
    if (references.addAndGet(-count) == 0) {
      buffer.release();
      memory.release(counted);
    }
  }
}
