package io.eventbus.link;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * Implementation of the sockets of links. Streams that are handed to other event loops need the
 * transport of those.
 *
 * @param io creates the driver of the sockets of one thread
 * @param server the type of sockets that listen
 * @param client the type of sockets that connect
 */
public record LinkTransport(
    IoHandlerFactory io,
    Class<? extends ServerChannel> server,
    Class<? extends SocketChannel> client) {

  /**
   * Returns the transport that every Java has.
   *
   * @return NIO
   */
  public static LinkTransport nio() {
    return new LinkTransport(
        NioIoHandler.newFactory(), NioServerSocketChannel.class, NioSocketChannel.class);
  }
}
