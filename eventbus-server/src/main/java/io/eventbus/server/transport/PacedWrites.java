package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.PromiseNotifier;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;

/**
 * Writer of large buffers in pieces, one for each {@code flush}: copying or encrypting a megabyte
 * for each of a thousand clients would keep the loop from all others. Confined to the loop.
 */
final class PacedWrites extends ChannelOutboundHandlerAdapter {
  /** Maximum that one flush gives to the system. */
  static final int PIECE = 128 * 1024;

  private record Waiting(ByteBuf bytes, ChannelPromise promise) {}

  private final ArrayDeque<Waiting> queue = new ArrayDeque<>(0);
  private final ChannelFutureListener pieceWritten;
  private long bytes;
  private boolean pieceUnderWay;

  /** Creates the handler of one channel. */
  PacedWrites(Runnable onRoom) {
    this.pieceWritten =
        written -> {
          pieceUnderWay = false;
          if (written.isSuccess() && isWaiting()) {
            onRoom.run();
          }
        };
  }

  /** Returns whether there is more to write. */
  boolean isWaiting() {
    return !queue.isEmpty();
  }

  /** Returns the bytes that the channel has not been given yet. */
  long bytes() {
    return bytes;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    ByteBuf given = (ByteBuf) message;
    if (queue.isEmpty() && given.readableBytes() <= PIECE) {
      var unused = ctx.write(given, promise);
      return;
    }
    queue.add(new Waiting(given, promise));
    bytes += given.readableBytes();
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    if (!queue.isEmpty() && !pieceUnderWay) {
      writePiece(ctx);
    }
    ctx.flush();
  }

  private void writePiece(ChannelHandlerContext ctx) {
    int room = PIECE;
    ChannelFuture written = null;
    for (Waiting next = queue.peek(); next != null && room > 0; next = queue.peek()) {
      int size = Math.min(next.bytes.readableBytes(), room);
      room -= size;
      bytes -= size;
      written = ctx.write(next.bytes.readRetainedSlice(size));
      if (!next.bytes.isReadable()) {
        queue.remove();
        next.bytes.release();
        if (!next.promise.isVoid()) {
          var unused = PromiseNotifier.cascade(written, next.promise);
        }
      }
    }
    if (written != null && !queue.isEmpty()) {
      pieceUnderWay = true;
      written.addListener(pieceWritten);
    }
  }

  @Override
  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
    giveUp();
    var unused = ctx.close(promise);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    giveUp();
  }

  private void giveUp() {
    bytes = 0;
    for (Waiting next = queue.poll(); next != null; next = queue.poll()) {
      next.bytes.release();
      if (!next.promise.isVoid()) {
        next.promise.tryFailure(new ClosedChannelException());
      }
    }
  }
}
