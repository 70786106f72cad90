package io.eventbus.server.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;

/**
 * TLS of a client's connection, which reports a failed handshake once. A client that leaves during
 * the handshake is no failure. Confined to the connection's loop.
 */
final class ClientTls extends SslHandler {
  private final ConnectionLoop loop;
  private final Consumer<Throwable> whenFailed;
  private boolean hasFailed;

  /** Creates the handler of one connection. */
  // Failed handshakes are reported by the listener.
  @SuppressWarnings("FutureReturnValueIgnored")
  ClientTls(SSLEngine engine, Executor tasks, ConnectionLoop loop, Consumer<Throwable> whenFailed) {
    super(engine, tasks);
    this.loop = loop;
    this.whenFailed = whenFailed;
    handshakeFuture()
        .addListener(
            done -> {
              Throwable cause = done.cause();
              if (cause != null && !(cause instanceof ClosedChannelException)) {
                failed(cause);
              }
            });
  }

  private void failed(Throwable cause) {
    if (!hasFailed) {
      hasFailed = true;
      whenFailed.accept(cause);
    }
  }

  /**
   * Keeps the failure of a task that ends after the connection: no handler is left behind this one,
   * and Netty would log it with its stack trace.
   */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
    if (ctx.isRemoved()) {
      loop.onError(cause);
      failed(cause);
    } else {
      super.exceptionCaught(ctx, cause);
    }
  }
}
