package io.eventbus.link;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Probe whether ports refuse connections, one address after the other. */
// A connection that opens is closed at once; a failure of that close changes nothing.
@SuppressWarnings("FutureReturnValueIgnored")
public final class PortProbe {
  private final Bootstrap bootstrap;
  private final CompletableFuture<Boolean> deserted = new CompletableFuture<>();

  private PortProbe(Class<? extends Channel> channel, EventLoopGroup loops, Duration limit) {
    this.bootstrap =
        new Bootstrap()
            .group(loops)
            .channel(channel)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) limit.toMillis())
            .handler(new ChannelInboundHandlerAdapter());
  }

  /**
   * Checks whether each of the addresses refuses connections; the result is false if there is none.
   *
   * @param limit the longest time to wait for each
   */
  static CompletableFuture<Boolean> refusesAll(
      List<InetSocketAddress> addresses,
      Class<? extends Channel> channel,
      EventLoopGroup loops,
      Duration limit) {
    PortProbe probe = new PortProbe(channel, loops, limit);
    if (addresses.isEmpty()) {
      probe.deserted.complete(false);
    } else {
      probe.next(addresses);
    }
    return probe.deserted;
  }

  private void next(List<InetSocketAddress> addresses) {
    if (addresses.isEmpty()) {
      deserted.complete(true);
      return;
    }
    bootstrap
        .connect(addresses.get(0))
        .addListener(
            (ChannelFuture connected) -> {
              if (connected.isSuccess()) {
                connected.channel().close();
              }
              if (isRefusal(connected.cause())) {
                next(addresses.subList(1, addresses.size()));
              } else {
                deserted.complete(false);
              }
            });
  }

  /**
   * Returns whether a connection could not be opened because no process listens there.
   *
   * <p>Java has one exception for a refused connection, for one without an answer, and for any
   * other failure; only the operating system's message tells them apart. If that message is not in
   * English, nothing counts as a refusal.
   *
   * @param error the failure of the attempt, or its cause; null for no error
   * @return whether the other machine has refused the connection
   */
  public static boolean isRefusal(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause != null && cause.getCause() != null && !(cause instanceof ConnectException)) {
      cause = cause.getCause();
    }
    return cause instanceof ConnectException
        && !(cause instanceof ConnectTimeoutException)
        && String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT).contains("refused");
  }
}
