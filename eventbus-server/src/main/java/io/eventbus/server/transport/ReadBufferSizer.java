package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.function.IntSupplier;

/**
 * Size of one read from a socket: as much as the last reads found, but less the more connections
 * there are, because each may have one read that waits to be handled. One read in a turn of the
 * loop, so that a busy client does not keep the others waiting. Shared by all connections.
 */
final class ReadBufferSizer extends AdaptiveRecvByteBufAllocator {
  private static final int MIN_BYTES = 2 * 1024;
  private static final int MAX_BYTES = 64 * 1024;

  private final long room;
  private final IntSupplier connections;

  /**
   * Creates the sizer.
   *
   * @param room bytes that all connections together may have read and not handled, about
   */
  ReadBufferSizer(long room, IntSupplier connections) {
    this.room = room;
    this.connections = connections;
    maxMessagesPerRead(1);
  }

  private int max() {
    return (int)
        Math.max(MIN_BYTES, Math.min(MAX_BYTES, room / Math.max(1, connections.getAsInt())));
  }

  @Override
  @SuppressWarnings("deprecation") // Netty's own handles still extend what it deprecates.
  public Handle newHandle() {
    return new Bounded((ExtendedHandle) super.newHandle());
  }

  @SuppressWarnings("deprecation")
  private final class Bounded extends RecvByteBufAllocator.DelegatingHandle
      implements ExtendedHandle {
    private final ExtendedHandle adaptive;

    Bounded(ExtendedHandle adaptive) {
      super(adaptive);
      this.adaptive = adaptive;
    }

    @Override
    public int guess() {
      return Math.min(adaptive.guess(), max());
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator alloc) {
      return alloc.ioBuffer(guess());
    }

    @Override
    public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
      return adaptive.continueReading(maybeMoreData);
    }
  }
}
