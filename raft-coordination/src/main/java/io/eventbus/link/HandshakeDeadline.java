package io.eventbus.link;

import io.netty.channel.ChannelHandlerAdapter;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Deadline that closes a connection whose handshake takes too long, however busily it dribbles
 * bytes.
 */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class HandshakeDeadline extends ChannelHandlerAdapter {
  private final Duration deadline;
  private @Nullable Future<?> timer;

  HandshakeDeadline(Duration deadline) {
    this.deadline = deadline;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    Runnable close = ctx::close;
    timer = ctx.executor().schedule(close, deadline.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    Future<?> running = timer;
    if (running != null) {
      running.cancel(false);
    }
  }
}
