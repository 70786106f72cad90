package io.eventbus.server.delivery;

import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Allocator of the deliveries of one loop, or of those that wait for one client: small ones next to
 * each other in a {@link DeliverySlab}, large ones in buffers of their own. Confined to its loop.
 */
public final class DeliveryAllocator {
  /**
   * Maximum size of a delivery in a slab, which holds eight at least; for larger ones a buffer of
   * their own costs little.
   */
  private static final int MAX_SLAB_BYTES = DeliverySlab.BYTES / 8;

  private final ByteBufAllocator buffers;
  private final BusMemory memory;
  private final boolean own;
  private @Nullable DeliverySlab open;

  /** Creates an allocator that holds nothing yet. */
  public DeliveryAllocator(ByteBufAllocator buffers, BusMemory memory) {
    this(buffers, memory, false);
  }

  private DeliveryAllocator(ByteBufAllocator buffers, BusMemory memory, boolean own) {
    this.buffers = buffers;
    this.memory = memory;
    this.own = own;
  }

  /** Creates an allocator for what waits for one client. */
  public static DeliveryAllocator forOne(ByteBufAllocator buffers, BusMemory memory) {
    return new DeliveryAllocator(buffers, memory, true);
  }

  /**
   * Creates a delivery whose frame is still to be written, as {@link Delivery#allocate} does.
   *
   * @param events number of events; 0 for all kinds but {@link DeliveryKind#EVENTS}
   * @param receivedNanos {@link System#nanoTime} when the bus received its source
   */
  public Delivery allocate(DeliveryKind kind, int frameBytes, int events, long receivedNanos) {
    int bytes = Delivery.HEADROOM + frameBytes;
    if (bytes > (own ? MAX_SLAB_BYTES / 2 : MAX_SLAB_BYTES)) {
      return Delivery.allocate(buffers, memory, kind, frameBytes, events, receivedNanos);
    }
    DeliverySlab slab = open;
    int start = slab == null ? -1 : slab.tryAcquire(bytes);
    if (slab == null || start < 0) {
      slab = another();
      start = slab.tryAcquire(bytes);
    }
    return Delivery.allocateInSlab(slab, start, kind, frameBytes, events, receivedNanos);
  }

  /**
   * Returns whether a delivery of so many bytes of events has a buffer of its own, so that others
   * may stand {@linkplain Delivery#around around} them; otherwise a copy costs less.
   */
  public static boolean isShared(int eventBytes) {
    return eventBytes > MAX_SLAB_BYTES;
  }

  /** Creates a delivery like {@link Delivery#around}. */
  public Delivery around(Delivery events, int from, int bytes, ByteBuffer head, ByteBuffer tail) {
    return Delivery.around(buffers, memory, events, from, bytes, head, tail);
  }

  /** Returns the same slab if nobody needs its content, or a new one. */
  private DeliverySlab another() {
    DeliverySlab slab = open;
    if (slab == null || !slab.rewind()) {
      close();
      slab = new DeliverySlab(buffers, memory, own);
      open = slab;
    }
    return slab;
  }

  /** Releases a slab that nobody needs; to be called from time to time. */
  public void trim() {
    DeliverySlab slab = open;
    if (slab != null && slab.rewind()) {
      close();
    }
  }

  /** Releases unused memory; more deliveries may be created afterwards. */
  public void close() {
    DeliverySlab slab = open;
    open = null;
    if (slab != null) {
      slab.close();
    }
  }
}
