package io.eventbus.server.samples;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Allocator that has direct memory for a number of buffers. */
public final class RefusingAllocator extends AbstractByteBufAllocator {
  private final UnpooledByteBufAllocator from;
  private int allowed;

  /**
   * Creates an allocator that allows none.
   *
   * @param from where buffers come from that are allowed
   */
  public RefusingAllocator(UnpooledByteBufAllocator from) {
    super(true);
    this.from = from;
  }

  /** Allows so many buffers from now on. */
  public void allow(int buffers) {
    allowed = buffers;
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return Unpooled.buffer(initialCapacity, maxCapacity);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    if (allowed-- <= 0) {
      throw new OutOfMemoryError(
          "Cannot reserve " + initialCapacity + " bytes of direct buffer memory");
    }
    return from.directBuffer(initialCapacity, maxCapacity);
  }

  @Override
  public boolean isDirectBufferPooled() {
    return false;
  }
}
