package io.eventbus.server.routing;

import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Makes the deliveries of one loop, or those that wait for one client: small ones next to each
 * other in a {@link DeliverySlab}, large ones in buffers of their own. Confined to its loop.
 */
public final class DeliveryAllocator {
  /** At least eight to a slab; beyond that, a buffer of one's own costs little for its size. */
  private static final int SMALL = DeliverySlab.BYTES / 8;

  private final ByteBufAllocator buffers;
  private final BusMemory memory;
  private final boolean own;
  private @Nullable DeliverySlab open;

  /**
   * Makes an allocator that holds nothing yet.
   *
   * @param buffers where memory comes from
   */
  public DeliveryAllocator(ByteBufAllocator buffers, BusMemory memory) {
    this(buffers, memory, false);
  }

  private DeliveryAllocator(ByteBufAllocator buffers, BusMemory memory, boolean own) {
    this.buffers = buffers;
    this.memory = memory;
    this.own = own;
  }

  /**
   * Makes an allocator for what waits for one client.
   *
   * @param buffers where memory comes from
   */
  public static DeliveryAllocator forOne(ByteBufAllocator buffers, BusMemory memory) {
    return new DeliveryAllocator(buffers, memory, true);
  }

  /**
   * Makes a delivery whose frame is still to be written, as {@link Delivery#allocate} does.
   *
   * @param events how many events it holds; 0 for all kinds but {@link DeliveryKind#EVENTS}
   * @param receivedNanos {@link System#nanoTime} when the bus received what it is made from
   */
  public Delivery allocate(DeliveryKind kind, int frameBytes, int events, long receivedNanos) {
    int bytes = Delivery.HEADROOM + frameBytes;
    if (bytes > (own ? SMALL / 2 : SMALL)) {
      return Delivery.allocate(buffers, memory, kind, frameBytes, events, receivedNanos);
    }
    DeliverySlab slab = open;
    int start = slab == null ? -1 : slab.take(bytes);
    if (slab == null || start < 0) {
      slab = another();
      start = slab.take(bytes);
    }
    return Delivery.allocateInSlab(slab, start, kind, frameBytes, events, receivedNanos);
  }

  /**
   * Says whether a delivery of so many bytes of events has a buffer of its own, in which others may
   * stand {@linkplain Delivery#around around} them.
   *
   * @param eventBytes bytes of the events
   * @return false where a copy costs less
   */
  static boolean isShared(int eventBytes) {
    return eventBytes > SMALL;
  }

  /** As {@link Delivery#around}. */
  Delivery around(Delivery events, int from, int bytes, ByteBuffer head, ByteBuffer tail) {
    return Delivery.around(buffers, memory, events, from, bytes, head, tail);
  }

  /** The same slab again if nobody needs what is in it, or a new one. */
  private DeliverySlab another() {
    DeliverySlab slab = open;
    if (slab == null || !slab.rewind()) {
      close();
      slab = new DeliverySlab(buffers, memory, own);
      open = slab;
    }
    return slab;
  }

  /** Gives back a slab that nobody needs; to be called from time to time. */
  public void trim() {
    DeliverySlab slab = open;
    if (slab != null && slab.rewind()) {
      close();
    }
  }

  /** Gives back what is not used; more deliveries may be made afterwards. */
  public void close() {
    DeliverySlab slab = open;
    open = null;
    if (slab != null) {
      slab.close();
    }
  }
}
