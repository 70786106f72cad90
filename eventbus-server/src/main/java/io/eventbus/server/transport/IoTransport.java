package io.eventbus.server.transport;

import io.eventbus.server.config.TransportType;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * What drives the sockets.
 *
 * @param name for people
 * @param handlers make what each loop waits with
 * @param serverChannel what listens
 * @param channel what connects
 * @param unsentBytes the option for how much unsent data the system takes; null where it has none
 */
public record IoTransport(
    String name,
    IoHandlerFactory handlers,
    Class<? extends ServerChannel> serverChannel,
    Class<? extends SocketChannel> channel,
    @Nullable ChannelOption<Long> unsentBytes) {

  /**
   * Finds what drives the sockets with a setting.
   *
   * @param type the setting
   * @return what can be had here
   * @throws IllegalStateException if what is demanded cannot be had
   */
  public static IoTransport of(TransportType type) {
    return switch (type) {
      case NIO -> nio();
      case AUTO -> Epoll.isAvailable() ? epoll() : nio();
      case EPOLL -> {
        require(type, Epoll.unavailabilityCause());
        yield epoll();
      }
      case IO_URING -> {
        require(type, IoUring.unavailabilityCause());
        yield ioUring();
      }
    };
  }

  private static void require(TransportType type, @Nullable Throwable missing) {
    if (missing != null) {
      throw new IllegalStateException(
          "listen.transport: " + type + " cannot be had here: " + missing, missing);
    }
  }

  private static IoTransport nio() {
    return new IoTransport(
        "nio",
        NioIoHandler.newFactory(),
        NioServerSocketChannel.class,
        NioSocketChannel.class,
        null);
  }

  private static IoTransport epoll() {
    return new IoTransport(
        "epoll",
        EpollIoHandler.newFactory(),
        EpollServerSocketChannel.class,
        EpollSocketChannel.class,
        EpollChannelOption.TCP_NOTSENT_LOWAT);
  }

  private static IoTransport ioUring() {
    return new IoTransport(
        "io_uring",
        IoUringIoHandler.newFactory(),
        IoUringServerSocketChannel.class,
        IoUringSocketChannel.class,
        IoUringChannelOption.TCP_NOTSENT_LOWAT);
  }
}
