package io.eventbus.server.transport;

import io.eventbus.server.session.TurnBudget;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Passes on what comes from a TLS client, a few records at a time. A record may be as short as a
 * key update, of which one read holds thousands, and each of them costs more than a message. What
 * took longer than a turn's share goes on in another turn of the loop, and the socket is not read
 * meanwhile. Confined to the connection's loop.
 */
final class TlsTurns extends ChannelDuplexHandler {
  /** Between two looks at the clock. */
  private static final int RECORDS = 8;

  /** How long a connection's records are decrypted in one turn. */
  private static final long SHARE_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

  private final LoopState loop;
  private final TlsRecords records = new TlsRecords();
  private final Deque<ByteBuf> held = new ArrayDeque<>(1);
  private long heldBytes;
  private boolean waiting;
  private boolean paused;
  private @Nullable ChannelHandlerContext own;

  TlsTurns(LoopState loop) {
    this.loop = loop;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    own = ctx;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf in = (ByteBuf) message;
    held.add(in);
    hold(in.readableBytes());
    if (!waiting) {
      passOn(ctx);
    }
  }

  /** The connection is not to be read until {@link #resumeReading}. */
  void pauseReading() {
    paused = true;
    updateReading();
  }

  /** The connection is to be read again, as soon as nothing is held here. */
  void resumeReading() {
    paused = false;
    updateReading();
  }

  /**
   * Whoever decrypts asks for more where records held no message, also of a socket that is not
   * read.
   */
  @Override
  public void read(ChannelHandlerContext ctx) {
    if (!waiting) {
      ctx.read();
    }
  }

  private void updateReading() {
    ChannelHandlerContext ctx = own;
    if (ctx != null) {
      ctx.channel().config().setAutoRead(!paused && !waiting);
    }
  }

  private void passOn(ChannelHandlerContext ctx) {
    TurnBudget budget = loop.context().budget();
    long charged = budget.total();
    long began = budget.now();
    boolean more = passSome(ctx);
    while (more && budget.now() - began < SHARE_NANOS) {
      more = passSome(ctx);
    }
    budget.spendSince(began, charged);
    if (more != waiting) {
      waiting = more;
      updateReading();
    }
    if (more) {
      loop.nextTurn(this::nextTurn);
    }
  }

  /**
   * Passes on the next records of the first buffer.
   *
   * @return false if nothing is left
   */
  private boolean passSome(ChannelHandlerContext ctx) {
    ByteBuf first = held.peek();
    if (first == null) {
      return false;
    }
    int bytes = records.next(first, RECORDS);
    hold(-bytes);
    ByteBuf some = first;
    if (bytes == first.readableBytes()) {
      held.remove();
    } else {
      some = first.readRetainedSlice(bytes);
    }
    ctx.fireChannelRead(some);
    return !held.isEmpty();
  }

  private void nextTurn() {
    ChannelHandlerContext ctx = own;
    if (ctx != null && waiting) {
      passOn(ctx);
      // What it was answered is written.
      ctx.fireChannelReadComplete();
    }
  }

  private void hold(int change) {
    heldBytes += change;
    loop.context().bus().memory().change(change);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    discard();
    ctx.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    discard();
    own = null;
  }

  private void discard() {
    waiting = false;
    hold((int) -heldBytes);
    for (ByteBuf next = held.poll(); next != null; next = held.poll()) {
      next.release();
    }
  }
}
