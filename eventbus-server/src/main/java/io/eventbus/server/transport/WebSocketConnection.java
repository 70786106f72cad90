package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.base.RefusedMemory;
import io.eventbus.protocol.CloseReason;
import io.eventbus.server.admission.ConnectionUsage;
import io.eventbus.server.config.ValueType;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.queue.FairQueue;
import io.eventbus.server.queue.MessageSink;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.transport.websocket.CloseFrame;
import io.eventbus.server.transport.websocket.FrameWriting;
import io.eventbus.server.transport.websocket.Opcode;
import io.eventbus.server.transport.websocket.PermessageDeflate;
import io.eventbus.server.transport.websocket.WebSocketViolation;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * WebSocket connection after the upgrade: life cycle, heartbeat, closing handshake and writing.
 * Input goes through an {@link InboundFrames}, whole messages to a {@link MessageHandler}. Confined
 * to its loop.
 */
// A failed write or close ends the channel, which is handled; single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
final class WebSocketConnection extends ChannelInboundHandlerAdapter
    implements ConnectionLoop.Ticking, MessageSink {
  private static final Logger LOG = LoggerFactory.getLogger(WebSocketConnection.class);
  private static final RateLimitedLog ERRORS = new RateLimitedLog(LOG);

  /** Bytes below which closing a connection gains too little. */
  private static final long MIN_TO_GAIN = 4 * 1024;

  /** Seconds for the queued bytes above which a client is slow. */
  private static final double SLOW_SECONDS = 2;

  /** Step between ranks of the eviction order: more bytes than any connection holds. */
  private static final double RANK = 1e15;

  /** Bytes on the way to the system below which a ping is answered at once. */
  private static final long MAX_PENDING_FOR_PONG = 64 * 1024;

  /** Bound of pongs for one read. The last of them answers the last ping. */
  private static final int MAX_PONGS = 16;

  private final ConnectionLoop loop;
  private final LoopStats stats;
  private final boolean deflateNegotiated;
  private final MessageHandler handler;
  private final InboundFrames inbound;
  private final ConnectionUsage account;

  private final Channel channel;

  /** TLS throttle, of a connection with TLS only. */
  private final @Nullable TlsReadThrottle tls;

  private ConnectionPhase phase = ConnectionPhase.OPEN;
  private long closeSentAt;
  private long closeDeadlineFrom = Long.MIN_VALUE;
  private long pendingAtTick;
  private final Heartbeat heartbeat;
  private long accounted;

  /** Payload of the latest unanswered ping. */
  private byte @Nullable [] lastPing;

  private int pongsInRead;
  private boolean awaitingPongRoom;

  // Created at the first tick at which something waits: until then the client takes what it is
  // sent.
  private @Nullable WriteProgress writeProgress;
  private final SharedWrites sharedWrites = new SharedWrites();

  // Added with the first large write: most connections need none.
  private @Nullable PacedWrites pacedWrites;
  private final FairQueue.Entry place;
  private final TickOrder.Place tickPlace;

  WebSocketConnection(
      ConnectionLoop loop,
      Channel channel,
      boolean deflateNegotiated,
      Function<WebSocketConnection, MessageHandler> handler) {
    this.loop = loop;
    this.channel = channel;
    this.tls = channel.pipeline().get(TlsReadThrottle.class);
    this.account = ConnectionAdmission.account(channel);
    this.place = loop.drainOrder().join(account.shareOf(), this::drain);
    this.stats = loop.context().stats();
    this.deflateNegotiated = deflateNegotiated;
    this.handler = handler.apply(this);
    this.inbound = new InboundFrames(loop, this, this.handler, deflateNegotiated);
    this.heartbeat = new Heartbeat(loop.config().timeouts(), System.nanoTime());
    this.tickPlace = loop.add(this);
  }

  ConnectionLoop loop() {
    return loop;
  }

  Channel channel() {
    return channel;
  }

  boolean isOpen() {
    return phase == ConnectionPhase.OPEN;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    int bytes = in.readableBytes();
    stats.bytesIn.add(bytes);
    // To read and unmask them takes time as well.
    loop.context().budget().spend(bytes >> 9);
    heartbeat.heard();
    loop.wake(tickPlace);
    long nowNanos = System.nanoTime();
    guarded(() -> inbound.feed(in, nowNanos));
  }

  /** Step in handling input. */
  interface Step {
    void run() throws WebSocketViolation;
  }

  /** Runs a step; an error in it ends this connection and no other. */
  void guarded(Step step) {
    assert loop.isOwn() : "not on the loop of " + channel.remoteAddress();
    try {
      step.run();
      answerPings();
    } catch (WebSocketViolation e) {
      inbound.discardAll();
      close(e.reason(), e.text());
      halfClose();
    } catch (RuntimeException e) {
      unexpected(e);
    } catch (OutOfMemoryError e) {
      if (!RefusedMemory.isRefused(e)) {
        loop.onError(e);
        throw e;
      }
      endAfterError("the bus has no memory for this now; reconnect");
    } catch (Error e) {
      // In a task of the loop no caller would handle it, and the input would not be read any more.
      unexpected(e);
    }
  }

  private void unexpected(Throwable e) {
    ERRORS.error(
        e.getClass().getName(), e, channel.remoteAddress() + ": closing after an unexpected error");
    endAfterError("the bus met an unexpected error; reconnect");
  }

  /** Handles what waits in a turn of the loop. */
  void nextTurn() {
    inbound.nextTurn();
  }

  /** Runs a task in a later turn of the loop. */
  void inTurn(Runnable task) {
    loop.nextTurn(place.address(), task);
  }

  /** Calls back after a delay; unhandled input waits until then. */
  void later(Runnable again, long nanos) {
    inbound.later(again, nanos);
  }

  void caused(long nanos) {
    inbound.caused(nanos);
  }

  boolean isEncrypted() {
    return tls != null;
  }

  /** Ends without a Close: the client has gone already. */
  void abandon() {
    inbound.discardAll();
    channel.close();
  }

  private void endAfterError(String message) {
    inbound.discardAll();
    close(CloseReason.INTERNAL_ERROR, message);
    halfClose();
  }

  /**
   * Answers a ping where it stands in the input. Many pings in one read, and pings of a client for
   * which much is queued, are answered by the pong of the latest (RFC 6455, section 5.5.3): pongs
   * for all would take memory without bound.
   */
  void onPing(ByteBuf payload) {
    if (phase != ConnectionPhase.OPEN) {
      return;
    }
    if (pongsInRead < MAX_PONGS - 1 && pendingBytes() < MAX_PENDING_FOR_PONG) {
      pongsInRead++;
      lastPing = null;
      writePong(payload);
    } else {
      lastPing = ByteBufUtil.getBytes(payload);
    }
  }

  /** Sends the pongs of a read, at its end. */
  private void answerPings() {
    if (lastPing != null) {
      if (pendingBytes() < MAX_PENDING_FOR_PONG) {
        answerLastPing();
      } else {
        awaitPongRoom();
      }
    } else if (pongsInRead > 0) {
      flush();
    }
    pongsInRead = 0;
  }

  private void answerLastPing() {
    byte[] payload = lastPing;
    if (payload == null || phase != ConnectionPhase.OPEN) {
      return;
    }
    lastPing = null;
    writePong(Unpooled.wrappedBuffer(payload));
    flush();
  }

  private void writePong(ByteBuf payload) {
    ByteBuf pong = channel.alloc().directBuffer(2 + payload.readableBytes());
    write(
        pong.writeByte(0x80 | Opcode.PONG).writeByte(payload.readableBytes()).writeBytes(payload));
  }

  /** Answers the latest ping when the system has taken what is queued now. */
  private void awaitPongRoom() {
    if (awaitingPongRoom) {
      return;
    }
    awaitingPongRoom = true;
    ChannelPromise taken = channel.newPromise();
    taken.addListener(
        f -> {
          awaitingPongRoom = false;
          if (f.isSuccess()) {
            guarded(this::answerLastPing);
          }
        });
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER, taken);
  }

  /**
   * Sends a ping with a number, which is no heartbeat: its pong says that the client has read all
   * before it.
   */
  void sendMarkerPing(byte number) {
    if (phase == ConnectionPhase.OPEN) {
      write(
          channel
              .alloc()
              .directBuffer(3)
              .writeByte(0x80 | Opcode.PING)
              .writeByte(1)
              .writeByte(number));
      flush();
    }
  }

  void onPong(ByteBuf payload) {
    if (phase == ConnectionPhase.OPEN && payload.readableBytes() == 1) {
      handler.onMarkerPong(payload.getByte(payload.readerIndex()));
    }
  }

  void onCloseFrame(ByteBuf payload) throws WebSocketViolation {
    int code = CloseFrame.check(payload);
    inbound.discardAll();
    if (phase == ConnectionPhase.OPEN) {
      phase = phase.to(ConnectionPhase.CLOSING);
      closeSentAt = System.nanoTime();
      loop.context().bus().stats().countClosedByPeer();
      if (code == CloseReason.NORMAL.code()) {
        handler.onGoodbye();
      }
      handler.onClosed();
      writeClose(code, "");
    }
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(f -> channel.close());
  }

  /**
   * Sends a Close and waits, for a bounded time, for the client's; further messages are ignored.
   */
  void close(CloseReason reason, String message) {
    if (phase != ConnectionPhase.OPEN) {
      return;
    }
    phase = phase.to(ConnectionPhase.CLOSING);
    closeSentAt = System.nanoTime();
    loop.context().bus().stats().countClose(reason);
    LOG.debug("{}: closing with {}: {}", channel.remoteAddress(), reason, message);
    handler.onClosed();
    inbound.ignoreMessages();
    writeClose(reason.code(), message);
    flush();
    // The client's Close is still to be read.
    resumeReading();
  }

  /** Writes a Close; without memory for it the client sees the end of the stream. */
  private void writeClose(int code, String message) {
    try {
      write(CloseFrame.encode(channel.alloc(), code, message));
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      channel.close();
    }
  }

  /**
   * Ends the stream after a violation, because frames can no longer be told apart; but continues
   * reading, because closing with unread data would make the system reset the connection and the
   * client might never see why.
   */
  private void halfClose() {
    channel
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(
            f -> {
              if (tls == null && channel instanceof DuplexChannel duplex) {
                duplex.shutdownOutput();
              } else {
                channel.close();
              }
            });
  }

  @Override
  public boolean compresses(int bytes) {
    return deflateNegotiated
        && bytes >= loop.config().compression().minBytes()
        && bytes <= PermessageDeflate.MAX_DEFLATED;
  }

  @Override
  public boolean isWritable() {
    return phase == ConnectionPhase.OPEN && channel.isWritable() && !isPacing();
  }

  /** Writes a whole message that has its header. */
  @Override
  public void writeMessage(ByteBuf message) {
    stats.messagesOut.add(1);
    write(message);
  }

  /** Writes a whole message that is a delivery; takes over the caller's reference. */
  @Override
  public void writeMessage(Delivery delivery) {
    ByteBuf message = FrameWriting.message(delivery);
    if (tls != null) {
      // Encrypted bytes are the connection's own, even if others get the same.
      delivery.release();
      writeMessage(message);
      return;
    }
    int bytes = message.readableBytes();
    stats.messagesOut.add(1);
    stats.bytesOut.add(bytes);
    writePaced(message);
    sharedWrites.wrote(delivery, bytes);
  }

  @Override
  public ByteBuf newMessage(int bytes) {
    ByteBuf message =
        loop.context().allocator().directBuffer(FrameWriting.MAX_HEADER_BYTES + bytes);
    FrameWriting.writeHeader(message, false, Opcode.BINARY, bytes);
    return message;
  }

  @Override
  public void writeCompressed(ByteBuf bytes) {
    ByteBuf deflated = loop.deflate().deflate(loop.context().allocator(), bytes.nioBuffer());
    bytes.release();
    writeFrame(true, Opcode.BINARY, deflated);
  }

  /** Writes one frame. */
  void writeFrame(boolean compressed, int opcode, ByteBuf payload) {
    int length = payload.readableBytes();
    ByteBuf header = channel.alloc().directBuffer(FrameWriting.MAX_HEADER_BYTES);
    FrameWriting.writeHeader(header, compressed, opcode, length);
    stats.messagesOut.add(1);
    write(header);
    write(payload);
  }

  private void write(ByteBuf bytes) {
    int size = bytes.readableBytes();
    stats.bytesOut.add(size);
    writePaced(bytes);
    sharedWrites.wrote(size);
  }

  /** Returns whether something large is being written in pieces. */
  private boolean isPacing() {
    return pacedWrites != null && pacedWrites.isWaiting();
  }

  /** Writes bytes to the channel, in pieces if they are many. */
  private void writePaced(ByteBuf bytes) {
    if (pacedWrites == null && bytes.readableBytes() > PacedWrites.PIECE) {
      pacedWrites = new PacedWrites(this::drainSoon);
      ChannelPipeline pipeline = channel.pipeline();
      ChannelHandlerContext own = pipeline.context(this);
      if (own != null) {
        pipeline.addBefore(own.name(), null, pacedWrites);
      }
    }
    channel.write(bytes, channel.voidPromise());
  }

  /** Schedules a write at the end of this round. */
  @Override
  public void drainSoon() {
    loop.drainSoon(place);
  }

  /** Writes as much as the socket takes, within what one connection may in a turn. */
  private void drain() {
    loop.wake(tickPlace);
    try {
      if (isPacing()) {
        flush();
      }
      handler.onWritable();
    } catch (RuntimeException e) {
      ERRORS.error(
          e.getClass().getName(),
          e,
          channel.remoteAddress() + ": could not be written to; it ends");
      close(CloseReason.INTERNAL_ERROR, "the bus met an unexpected error; reconnect");
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      close(CloseReason.INTERNAL_ERROR, "the bus has no memory for this now; reconnect");
    }
  }

  /** Writes to the system what it takes; what it does not take counts as held by the bus. */
  @Override
  public void flush() {
    loop.wake(tickPlace);
    channel.flush();
    account(pendingBytes());
  }

  /** Notes in the bus's memory how much is on its way to the system now. */
  private void account(long pending) {
    long own = sharedWrites.settle(pending);
    long change = own - accounted;
    accounted = own;
    loop.context().bus().memory().change(change);
  }

  /** Returns the bytes on the way to the system. */
  @Override
  public long pendingBytes() {
    ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
    return (out == null ? 0 : out.totalPendingWriteBytes())
        + (pacedWrites == null ? 0 : pacedWrites.bytes());
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    account(pendingBytes());
    if (isWritable()) {
      heartbeat.took(System.nanoTime());
      drainSoon();
    }
  }

  /** Stops reading from the socket, so that the client feels the back-pressure. */
  void pauseReading() {
    if (tls == null) {
      channel.config().setAutoRead(false);
    } else {
      tls.pauseReading();
    }
  }

  void resumeReading() {
    heartbeat.restart(System.nanoTime());
    if (tls == null) {
      channel.config().setAutoRead(true);
    } else {
      tls.resumeReading();
    }
  }

  @Override
  public boolean onTick(long nowNanos) {
    long pending = pendingBytes();
    account(pending);
    updateProgress(sharedWrites.taken(pending), waitingBytes(pending) > 0, nowNanos);
    account.holds(heldBytes());
    if (phase == ConnectionPhase.CLOSING) {
      closingTick(nowNanos);
      return false;
    }
    boolean quiet = handler.onTick(nowNanos);
    if (phase == ConnectionPhase.OPEN && inbound.isOverdue(nowNanos)) {
      close(
          CloseReason.IDLE,
          "a message was not complete within "
              + ValueType.time(loop.config().timeouts().message())
              + " of its first byte; reconnect and send it faster");
      return false;
    }
    // While nothing is read, no sign of life can be seen.
    if (phase == ConnectionPhase.OPEN && channel.config().isAutoRead()) {
      beat(nowNanos);
    }
    return quiet
        && phase == ConnectionPhase.OPEN
        && waitingBytes(pending) == 0
        && channel.config().isAutoRead()
        && !inbound.isUnfinished();
  }

  private void updateProgress(long taken, boolean waits, long nowNanos) {
    if (writeProgress != null) {
      writeProgress.update(taken, waits, nowNanos);
    } else if (waits) {
      writeProgress = new WriteProgress(taken, nowNanos);
    }
  }

  /** Extends the time for the Close while bytes before it go out, up to a bound. */
  private void closingTick(long nowNanos) {
    long pending = pendingBytes();
    if (pending < pendingAtTick
        && nowNanos - closeSentAt < loop.config().timeouts().slowSubscriber().toNanos()) {
      closeDeadlineFrom = nowNanos;
    }
    pendingAtTick = pending;
    if (nowNanos - Math.max(closeSentAt, closeDeadlineFrom)
        > loop.config().timeouts().close().toNanos()) {
      channel.close();
    }
  }

  private void beat(long nowNanos) {
    switch (heartbeat.check(nowNanos)) {
      case NOTHING -> {}
      case PING -> {
        write(channel.alloc().directBuffer(2).writeByte(0x80 | Opcode.PING).writeByte(0));
        flush();
      }
      case CLOSE ->
          close(
              CloseReason.IDLE,
              "no sign of life for "
                  + ValueType.time(loop.config().timeouts().pong())
                  + " after a ping; reconnect");
    }
  }

  @Override
  public void stopReading() {
    if (phase == ConnectionPhase.OPEN) {
      inbound.ignoreMessages();
      pauseReading();
    }
  }

  @Override
  public void shutdown() {
    if (phase == ConnectionPhase.OPEN) {
      handler.onShutdown();
    }
  }

  @Override
  public long heldBytes() {
    return handler.queuedBytes() + handler.keptBytes() + inbound.held() + pendingBytes();
  }

  /** Returns the bytes that wait for the client to take them. */
  private long waitingBytes(long pending) {
    return handler.queuedBytes() + pending;
  }

  @Override
  public double evictionScore(MemoryPressure.Kind kind, long nowNanos) {
    return switch (kind) {
      case ALL -> evictionScoreInQueues(nowNanos);
      case SHORT_PIECES -> inbound.unfinished().shortEvictionScore(nowNanos);
      case LONG_PIECES -> inbound.unfinished().longEvictionScore(nowNanos);
    };
  }

  /**
   * Returns the eviction score: stuck clients first, then slow ones, then the largest; in the first
   * two ranks those first whose address is over its share. A publisher that waits itself comes
   * last. (The address of very many readers of the same events seems to hold each event many times;
   * that alone is no reason to evict them.)
   */
  private double evictionScoreInQueues(long nowNanos) {
    long waiting = waitingBytes(pendingBytes());
    // Unfinished messages are bounded on their own.
    long held = waiting + handler.keptBytes();
    if (held < MIN_TO_GAIN) {
      return heldBytes() < MIN_TO_GAIN ? 0 : heldBytes();
    }
    int rank = 1;
    if (writeProgress != null && writeProgress.isStuck(nowNanos)) {
      rank = account.isOverShare() ? 5 : 4;
    } else if (writeProgress != null && writeProgress.secondsFor(waiting) > SLOW_SECONDS) {
      rank = account.isOverShare() ? 3 : 2;
    }
    return rank * RANK + held;
  }

  @Override
  public void evict() {
    if (phase == ConnectionPhase.CLOSING) {
      // Already evicted once and still the largest: close hard.
      channel.close();
      return;
    }
    try {
      // Half a frame may hold the memory; without it the rest cannot be read.
      inbound.discardAll();
      close(
          CloseReason.SLOW_CONSUMER,
          "the bus is out of memory and this connection holds the most of it, with what waits for"
              + " the client and what its calls and services take; reconnect, read faster and have"
              + " less under way");
      halfClose();
    } catch (RuntimeException | OutOfMemoryError e) {
      // Otherwise it would be chosen again.
      channel.close();
      throw e;
    }
  }

  /** Ends; thousands that are lost together take turns with the clients that stay. */
  @Override
  public void channelInactive(ChannelHandlerContext context) {
    loop.context()
        .calls()
        .inSlices(
            () -> {
              onInactive();
              return false;
            });
  }

  private void onInactive() {
    if (phase == ConnectionPhase.OPEN) {
      loop.context().bus().stats().countClosedByPeer();
      handler.onClosed();
    }
    phase = phase.to(ConnectionPhase.CLOSED);
    inbound.close();
    sharedWrites.close();
    account(0);
    loop.drainOrder().leave(place);
    loop.remove(tickPlace);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    loop.onError(cause);
    // TLS failures are wrapped in the decoder's exception; both are the client's fault.
    if (cause instanceof IOException || cause instanceof DecoderException) {
      LOG.debug("{}: connection lost: {}", channel.remoteAddress(), cause.toString());
    } else {
      ERRORS.warn(
          cause.getClass().getName(),
          "{}: connection ended by an error: {}",
          channel.remoteAddress(),
          cause);
      LOG.debug("connection ended by an error", cause);
    }
    channel.close();
  }

  @Override
  public String toString() {
    return account.toString();
  }
}
