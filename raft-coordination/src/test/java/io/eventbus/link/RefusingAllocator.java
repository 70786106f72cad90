package io.eventbus.link;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Allocator without direct memory. */
final class RefusingAllocator extends AbstractByteBufAllocator {
  RefusingAllocator() {
    super(true);
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return Unpooled.buffer(initialCapacity, maxCapacity);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    throw new OutOfMemoryError(
        "Cannot reserve " + initialCapacity + " bytes of direct buffer memory");
  }

  @Override
  public boolean isDirectBufferPooled() {
    return false;
  }
}
