package io.eventbus.link;

import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;

/**
 * Acceptor of connections that another bus has opened as streams, see {@link LinkNode#openStream}.
 *
 * <p>Implementers: this runs on a thread that moves the bytes of links, so it must not block and
 * must not throw.
 */
public interface StreamAcceptor {
  /**
   * Returns the event loop that is to own a stream.
   *
   * @param peer the bus that has opened it, and its channel
   * @return a loop of the node's {@link LinkTransport}
   */
  EventLoop loop(LinkPeer peer);

  /**
   * Creates the handler of the bytes of a stream. It is added on that loop, to a channel that is
   * open and has been authenticated.
   *
   * @param peer the bus that has opened it, and its channel
   * @return the only handler, but for TLS
   */
  ChannelHandler handler(LinkPeer peer);
}
