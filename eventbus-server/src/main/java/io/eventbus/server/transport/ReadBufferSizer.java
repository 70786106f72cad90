package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.function.IntSupplier;

/**
 * How much one read takes from a socket: as much as the last reads found, but the less the more
 * connections there are, because each of them may have one read that waits to be handled. One read
 * in a turn of the loop, so that a busy client does not keep the others waiting. Shared by all
 * connections.
 */
final class ReadBufferSizer extends AdaptiveRecvByteBufAllocator {
  private static final int MIN = 2 * 1024;
  private static final int MAX = 64 * 1024;

  private final long room;
  private final IntSupplier connections;

  /**
   * Makes one.
   *
   * @param room bytes that all connections together may have read and not handled, about
   */
  ReadBufferSizer(long room, IntSupplier connections) {
    this.room = room;
    this.connections = connections;
    maxMessagesPerRead(1);
  }

  private int most() {
    return (int) Math.max(MIN, Math.min(MAX, room / Math.max(1, connections.getAsInt())));
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
      return Math.min(adaptive.guess(), most());
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
