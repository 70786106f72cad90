package io.eventbus.server.transport;

import io.eventbus.server.memory.UnfinishedMemory;
import io.eventbus.server.session.WorkBudget;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Throttle that passes on input of a TLS client, a few records at a time. A record may be as short
 * as a key update, of which one read holds thousands, and each costs more than a message. What
 * takes longer than a turn's share continues in another turn of the loop, and the socket is not
 * read meanwhile. Input before the end of the handshake is bounded and counted, and after the
 * client's close_notify nothing is passed on: in both cases the handler for TLS keeps it. Confined
 * to the connection's loop.
 */
// A close that fails has nothing left to close.
@SuppressWarnings("FutureReturnValueIgnored")
final class TlsReadThrottle extends ChannelDuplexHandler {
  /** Records between two readings of the clock. */
  private static final int RECORDS = 8;

  /** Time for a connection's records in one turn. */
  private static final long SHARE_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

  /** Bound of input before the end of the handshake: more than any handshake takes. */
  private static final int MAX_HANDSHAKE_BYTES = 32 * 1024;

  /** Size of most handshakes. */
  private static final int BEGINNING = 4 * 1024;

  private final ConnectionLoop loop;
  private final Runnable refused;
  private final TlsRecords records = new TlsRecords();
  private final Deque<ByteBuf> held = new ArrayDeque<>(1);
  private long heldBytes;
  private boolean waiting;
  private boolean paused;
  private boolean handshaking = true;
  // Bytes passed on and perhaps kept behind, counted among unfinished messages.
  private int handshakeBytes;
  private boolean ended;
  private @Nullable ChannelHandlerContext own;

  /** Creates the handler of one connection. */
  TlsReadThrottle(ConnectionLoop loop, Runnable refused) {
    this.loop = loop;
    this.refused = refused;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    own = ctx;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf in = (ByteBuf) message;
    if (ended) {
      in.release();
      return;
    }
    held.add(in);
    hold(in.readableBytes());
    if (!waiting) {
      passOn(ctx);
    }
  }

  /** Pauses reading until {@link #resumeReading}. */
  void pauseReading() {
    paused = true;
    updateReading();
  }

  /** Resumes reading as soon as nothing is held here. */
  void resumeReading() {
    paused = false;
    updateReading();
  }

  /**
   * Reads on: the handler for TLS asks for more if records held no message, even while the socket
   * is not read.
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
    WorkBudget budget = loop.context().budget();
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
      loop.nextTurn(ConnectionAdmission.account(ctx.channel()).shareOf(), this::nextTurn);
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
    // Singly until it is known that they are not kept.
    int bytes = records.next(first, handshaking ? 1 : RECORDS);
    if (handshaking && !mayKeep(bytes)) {
      end();
      refused.run();
      // Bypasses the handler for TLS, which would send a close_notify first.
      ctx.close();
      return false;
    }
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

  /**
   * Returns whether more handshake input may be kept. The handler for TLS keeps it while it
   * computes. Every client may begin, however full the bus is: it may read what waits for it.
   */
  private boolean mayKeep(int bytes) {
    int all = handshakeBytes + bytes;
    int piece = Math.max(0, all - BEGINNING) - Math.max(0, handshakeBytes - BEGINNING);
    if (all > MAX_HANDSHAKE_BYTES || (piece > 0 && !pieces().tryAcquire(piece))) {
      return false;
    }
    loop.context().bus().memory().change((long) bytes - piece);
    handshakeBytes = all;
    return true;
  }

  private UnfinishedMemory pieces() {
    return loop.context().bus().memory().shortPieces();
  }

  /** Returns the bytes of an unfinished handshake. */
  int handshakeBytes() {
    return handshakeBytes;
  }

  private void handshakeEnded() {
    handshaking = false;
    int piece = Math.max(0, handshakeBytes - BEGINNING);
    if (piece > 0) {
      pieces().release(piece);
    }
    loop.context().bus().memory().change((long) piece - handshakeBytes);
    handshakeBytes = 0;
  }

  /**
   * Creates the handler behind that for TLS, which hears how far the connection is. After the
   * client's close_notify all input is dropped: the handler for TLS would keep it.
   */
  ChannelHandler observer() {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof SslHandshakeCompletionEvent && handshaking) {
          handshakeEnded();
        }
        if (event instanceof SslCloseCompletionEvent && !ended) {
          end();
          ctx.channel().close();
        }
        super.userEventTriggered(ctx, event);
      }
    };
  }

  private void nextTurn() {
    ChannelHandlerContext ctx = own;
    if (ctx == null || !waiting) {
      return;
    }
    try {
      passOn(ctx);
      // Writes the answer of the handler for TLS.
      ctx.fireChannelReadComplete();
    } catch (RuntimeException | Error e) {
      // No read follows that would pass the exception on, and the rest would be held.
      end();
      ctx.fireExceptionCaught(e);
      ctx.close();
    }
  }

  private void hold(int change) {
    heldBytes += change;
    loop.context().bus().memory().change(change);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    end();
    ctx.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    end();
    own = null;
  }

  private void end() {
    ended = true;
    if (handshaking) {
      handshakeEnded();
    }
    waiting = false;
    hold((int) -heldBytes);
    for (ByteBuf next = held.poll(); next != null; next = held.poll()) {
      next.release();
    }
  }
}
