package io.eventbus.conformance.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.concurrent.TimeUnit;

/**
 * A WebSocket connection of a client, from the bus's side; any thread.
 *
 * <p>Results of writes do not matter: if the client does not get a frame, the script sees its
 * reaction.
 */
@SuppressWarnings("FutureReturnValueIgnored")
public final class WireConnection {
  /** Timeout for the answer to a Close. */
  private static final long CLOSE_MILLIS = 1000;

  private final ScriptedBus bus;
  private final Channel channel;
  private final WireListener listener;
  private final long acceptedAt;
  private volatile boolean silent;
  private volatile boolean closing;

  WireConnection(ScriptedBus bus, Channel channel, WireListener listener, long acceptedAt) {
    this.acceptedAt = acceptedAt;
    this.bus = bus;
    this.channel = channel;
    this.listener = listener;
  }

  /** Returns the bus that accepted it. */
  public ScriptedBus bus() {
    return bus;
  }

  /**
   * Returns the time at which the TCP connection was accepted.
   *
   * @return as {@link System#nanoTime}
   */
  public long acceptedAt() {
    return acceptedAt;
  }

  /**
   * Sends a binary message, behind all earlier ones of any thread.
   *
   * @param message its bytes
   */
  public void send(byte[] message) {
    BinaryWebSocketFrame frame = new BinaryWebSocketFrame(Unpooled.wrappedBuffer(message));
    if (channel.eventLoop().inEventLoop()) {
      // As a task, because frames of the script may still be tasks.
      channel.eventLoop().execute(() -> channel.writeAndFlush(frame));
    } else {
      channel.writeAndFlush(frame);
    }
  }

  /**
   * Sends a binary message in two WebSocket frames.
   *
   * @param message its bytes
   */
  public void sendInTwo(byte[] message, int first) {
    ByteBuf bytes = Unpooled.wrappedBuffer(message);
    channel.write(new BinaryWebSocketFrame(false, 0, bytes.readRetainedSlice(first)));
    channel.writeAndFlush(new ContinuationWebSocketFrame(true, 0, bytes));
  }

  /** Sends a text message, which no bus does. */
  public void sendText(String text) {
    channel.writeAndFlush(new TextWebSocketFrame(text));
  }

  /** Sends a Ping. */
  public void ping() {
    channel.writeAndFlush(new PingWebSocketFrame(Unpooled.copyInt(7)));
  }

  /**
   * Sends a Close frame, and ends the connection after the client's answer, as a bus does: a
   * browser that cannot send its answer hides the code from the page.
   */
  public void close(int code, String reason) {
    closing = true;
    channel.writeAndFlush(new CloseWebSocketFrame(code, reason));
    channel.eventLoop().schedule(() -> channel.close(), CLOSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Resets the connection, as if the machine were gone. */
  public void cut() {
    try {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    } catch (ChannelException e) {
      // Ended by the client meanwhile.
    }
    channel.close();
  }

  /** Stops reading, or continues. */
  public void read(boolean reading) {
    channel.config().setAutoRead(reading);
  }

  /** Answers no Ping and no Close from now on. */
  public void fallSilent() {
    silent = true;
  }

  ChannelHandler handler() {
    return new SimpleChannelInboundHandler<WebSocketFrame>() {
      @Override
      protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
        take(context, frame);
      }

      @Override
      public void channelInactive(ChannelHandlerContext context) {
        listener.ended(WireConnection.this);
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // A reset or a protocol error: the script sees the end in both cases.
        context.close();
      }
    };
  }

  private void take(ChannelHandlerContext context, WebSocketFrame frame) {
    if (frame instanceof BinaryWebSocketFrame) {
      listener.message(this, ByteBufUtil.getBytes(frame.content()));
    } else if (frame instanceof PingWebSocketFrame) {
      listener.other(this, "Ping");
      if (!silent) {
        // As a task, like the frames of the script, so that a Pong comes behind them.
        PongWebSocketFrame pong = new PongWebSocketFrame(frame.content().retain());
        context.executor().execute(() -> context.writeAndFlush(pong));
      }
    } else if (frame instanceof PongWebSocketFrame) {
      listener.other(this, "Pong");
    } else if (frame instanceof CloseWebSocketFrame close) {
      listener.closing(this, close.statusCode(), close.reasonText());
      if (closing) {
        context.close();
      } else if (!silent) {
        context.writeAndFlush(close.retain()).addListener(ChannelFutureListener.CLOSE);
      }
    } else {
      listener.other(this, "text message");
    }
  }
}
