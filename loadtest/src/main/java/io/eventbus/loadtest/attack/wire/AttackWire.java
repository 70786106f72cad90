package io.eventbus.loadtest.attack.wire;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TypeCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connection to a bus. {@link #send}, {@link #after} and the ways to end it may be called by any
 * thread; what a {@link AttackPeer} hears comes on the connection's event loop.
 */
public final class AttackWire {
  private static final int TICK_MILLIS = 50;
  private static final int SWITCHING = 101;

  private final AttackPeer peer;
  private final Opening opening;
  private final WireCounts counts;
  private final AttackPace pace = new AttackPace();
  private final Channel channel;
  private final FrameCursor cursor = new FrameCursor();
  private final ServerFrames frames = new ServerFrames(new Incoming());
  private final ResponseHead head = new ResponseHead();
  private boolean upgraded;
  private boolean welcomed;
  private boolean ended;
  private int closeCode;
  private volatile boolean own;

  AttackWire(Channel channel, AttackPeer peer, Opening opening, WireCounts counts) {
    this.channel = channel;
    this.peer = peer;
    this.opening = opening;
    this.counts = counts;
    // Before the channel is registered, or it is too late.
    channel.config().setRecvByteBufAllocator(pace);
  }

  /** Sends octets as they are. */
  public void send(ByteBuf octets) {
    counts.sent(octets.readableBytes());
    var unused = channel.writeAndFlush(octets, channel.voidPromise());
  }

  /** Sends one binary message. */
  public void sendMessage(byte[]... parts) {
    send(Octets.message(parts));
  }

  /**
   * Returns whether the socket takes more.
   *
   * @return false while much waits to be sent, and once the connection has ended
   */
  public boolean isWritable() {
    return channel.isWritable() && channel.isActive();
  }

  /** Stops reading. */
  public void stopReading() {
    channel.config().setAutoRead(false);
  }

  /**
   * Reads slowly and evenly from now on; on the connection's event loop.
   *
   * @param bytesPerSecond how much; 0 for nothing
   */
  public void readAt(int bytesPerSecond) {
    stopReading();
    if (bytesPerSecond == 0) {
      return;
    }
    int each = Math.max(1, (int) ((long) bytesPerSecond * TICK_MILLIS / 1000));
    pace.atMost(each);
    after(TICK_MILLIS, this::tick);
  }

  /** Reads whatever comes, from now on; any thread. */
  public void readAll() {
    after(
        0,
        () -> {
          pace.usual();
          channel.config().setAutoRead(true);
        });
  }

  private void tick() {
    channel.read();
    after(TICK_MILLIS, this::tick);
  }

  /**
   * Has something done on the event loop.
   *
   * @param millis from now
   * @param task left out if the connection has ended by then
   */
  public void after(long millis, Runnable task) {
    afterNanos(TimeUnit.MILLISECONDS.toNanos(millis), task);
  }

  /**
   * Has something done on the event loop.
   *
   * @param nanos from now
   * @param task left out if the connection has ended by then
   */
  public void afterNanos(long nanos, Runnable task) {
    if (channel.eventLoop().isShuttingDown()) {
      return;
    }
    var unused =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  if (channel.isActive()) {
                    task.run();
                  }
                },
                nanos,
                TimeUnit.NANOSECONDS);
  }

  /** Ends the connection without a Close frame. */
  public void end() {
    own = true;
    var unused = channel.close();
  }

  /** Ends the connection with a reset. */
  public void reset() {
    own = true;
    try {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    } catch (ChannelException e) {
      // The bus has ended it in this moment.
    }
    var unused = channel.close();
  }

  private void begin() {
    counts.connected();
    if (opening.request().length > 0) {
      send(Unpooled.wrappedBuffer(opening.request()));
    }
    peer.connected(this);
  }

  private void take(ByteBuf in) {
    counts.received(in.readableBytes());
    if (opening.request().length == 0) {
      peer.octets(this, in);
    } else if (upgraded) {
      frames.take(in);
    } else {
      upgrade(in);
    }
  }

  private void upgrade(ByteBuf in) {
    int status = head.take(in);
    if (status == ResponseHead.MORE) {
      return;
    }
    if (status != SWITCHING) {
      closeCode = Math.max(0, status);
      peer.octets(this, in);
      var unused = channel.close();
      return;
    }
    upgraded = true;
    if (opening.hello().length > 0) {
      sendMessage(opening.hello());
    }
    peer.upgraded(this);
    frames.take(in);
  }

  private void close(int code) {
    if (ended) {
      return;
    }
    ended = true;
    frames.release();
    int found = closeCode != 0 ? closeCode : code;
    if (!own) {
      counts.closed(found);
    }
    peer.closed(this, found);
  }

  /** Takes what the bus sends after the upgrade. */
  private final class Incoming implements ServerFrames.Sink {
    @Override
    public boolean wants() {
      return !welcomed || peer.reads();
    }

    @Override
    public void frame(int opcode, ByteBuf payload) {
      switch (opcode) {
        case Octets.PING -> {
          byte[] echoed = new byte[payload.readableBytes()];
          payload.readBytes(echoed);
          send(Octets.frame(Octets.FINAL | Octets.PONG, echoed));
        }
        case Octets.CLOSE -> {
          closeCode =
              payload.readableBytes() >= 2
                  ? payload.getUnsignedShort(payload.readerIndex())
                  : AttackPeer.NO_CLOSE;
          byte[] echoed = new byte[payload.readableBytes()];
          payload.readBytes(echoed);
          send(Octets.frame(Octets.FINAL | Octets.CLOSE, echoed));
        }
        case Octets.BINARY -> message(payload);
        default -> {
          // Pongs, and text that no bus sends.
        }
      }
    }

    private void message(ByteBuf payload) {
      ByteBuffer message = payload.nioBuffer();
      try {
        cursor.wrap(message, message.position(), message.limit());
        while (cursor.next()) {
          frame(cursor.typeCode(), message, cursor.bodyStart(), cursor.bodyEnd());
        }
      } catch (MalformedFrameException e) {
        // The echo endpoint sends what it got.
        peer.frame(AttackWire.this, -1, message, message.position(), message.limit());
      }
    }

    private void frame(int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.WELCOME.code()) {
        welcomed = true;
        counts.welcomed();
        peer.welcomed(AttackWire.this, ControlFrames.welcome(message, from, to));
      } else {
        peer.frame(AttackWire.this, type, message, from, to);
      }
    }
  }

  ChannelInboundHandlerAdapter handler() {
    return new Handler();
  }

  private final class Handler extends ChannelInboundHandlerAdapter {
    @Override
    public void channelActive(ChannelHandlerContext context) {
      if (context.pipeline().get(SslHandler.class) == null) {
        begin();
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof SslHandshakeCompletionEvent tls && tls.isSuccess()) {
        begin();
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = (ByteBuf) message;
      try {
        take(in);
      } finally {
        in.release();
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      if (channel.isWritable()) {
        peer.writable(AttackWire.this);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      close(AttackPeer.NO_CLOSE);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, @Nullable Throwable cause) {
      // A reset, mostly: the bus has had enough.
      var unused = context.close();
    }
  }
}
