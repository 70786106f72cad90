package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.transport.websocket.Opcode;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Handler that sends every message back unchanged: a diagnostic endpoint for public conformance
 * suites, which exercises the same upgrade, frames, limits and compression as the bus. A client
 * that does not read is no longer read from, and then closed.
 */
final class EchoHandler implements MessageHandler {
  private static final long MAX_PENDING = 1024 * 1024;

  private final ConnectionLoop loop;
  private final WebSocketConnection connection;
  private @Nullable Runnable waiting;
  private long waitingSince;

  EchoHandler(ConnectionLoop loop, WebSocketConnection connection) {
    this.loop = loop;
    this.connection = connection;
    // No Hello is expected.
    ConnectionAdmission.account(connection.channel()).welcomed();
  }

  @Override
  public boolean acceptsText() {
    return true;
  }

  @Override
  public int maxMessageBytes() {
    return loop.config().diagnostics().echoMessageBytes();
  }

  @Override
  public int onMessage(
      ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry) {
    if (!connection.isWritable()) {
      if (from < to) {
        waiting = retry;
        waitingSince = nowNanos;
        return from;
      }
      // An empty message cannot be kept for later, but too many of them are a queue as well.
      if (connection.pendingBytes() > MAX_PENDING) {
        connection.close(CloseReason.SLOW_CONSUMER, "too slow: the echo was not read");
        return to;
      }
    }
    int opcode = text ? Opcode.TEXT : Opcode.BINARY;
    ByteBuffer payload = message.duplicate().position(from).limit(to);
    ByteBuf out;
    boolean compressed = connection.compresses(to - from);
    if (compressed) {
      out = loop.deflate().deflate(loop.context().allocator(), payload);
    } else {
      out = loop.context().allocator().directBuffer(to - from).writeBytes(payload);
    }
    connection.writeFrame(compressed, opcode, out);
    connection.flush();
    return to;
  }

  @Override
  public void onWritable() {
    Runnable retry = waiting;
    if (retry != null) {
      waiting = null;
      retry.run();
    }
  }

  @Override
  public boolean onTick(long nowNanos) {
    if (waiting != null
        && nowNanos - waitingSince > loop.config().timeouts().slowSubscriber().toNanos()) {
      connection.close(CloseReason.SLOW_CONSUMER, "too slow: the echo was not read");
    }
    return waiting == null;
  }

  @Override
  public long queuedBytes() {
    return 0;
  }

  @Override
  public void onShutdown() {
    connection.close(CloseReason.SHUTTING_DOWN, "the bus shuts down; reconnect elsewhere");
  }

  @Override
  public void onClosed() {
    waiting = null;
  }
}
