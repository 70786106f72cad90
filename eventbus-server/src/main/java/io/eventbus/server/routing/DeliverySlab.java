package io.eventbus.server.routing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A buffer that many small deliveries share, one behind the other, so that neither the allocator
 * nor the bus's account is touched for each of them.
 *
 * <p>The router of a loop fills it; whoever releases the last delivery, on any thread, gives it
 * back. As long as it is open the filling loop holds {@link #MAX} references and only counts how
 * many of them it has given away; when it closes the slab it gives back the others. From then on
 * the slab counts as memory, whole, until its last delivery is gone. An open one does not count:
 * there is one for each loop. What waits for a client that does not take it is copied out of its
 * slab, so that a few deliveries of a slow client do not keep many slabs.
 */
final class DeliverySlab {
  /**
   * One delivery that waits keeps all of it: so it is small, a few times of what the deliveries in
   * it would take by themselves.
   */
  static final int BYTES = 8 * 1024;

  /** The same for what waits for one client. */
  static final int OWN_BYTES = 4 * 1024;

  private static final int MAX = 1 << 20;

  private final ByteBuf buffer;
  private final BusMemory memory;
  private final AtomicInteger references = new AtomicInteger(MAX);
  private final int bytes;
  private final boolean own;
  // Written by the filling loop, while it has a reference.
  private long counted;
  // Confined to the filling loop.
  private int used;
  private int given;

  /**
   * Makes a slab.
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

  /** The filling loop: takes room and a reference; returns where it starts, or -1. */
  int take(int size) {
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
   * The filling loop: starts at the beginning again if nobody needs what is there. Bytes on their
   * way into a socket are held through the buffer.
   *
   * @return false if somebody does; then nothing was done
   */
  boolean rewind() {
    if (references.get() != MAX - given || buffer.refCnt() != 1) {
      return false;
    }
    references.set(MAX);
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

  /** The filling loop: nothing more is put in. */
  void close() {
    count(own ? 0 : bytes + given * Delivery.OVERHEAD);
    drop(MAX - given);
  }

  /** Any thread: a delivery is gone. */
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
