package io.eventbus.link;

import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;

/**
 * Acceptor of streams that will be accepted, but are not yet: they are refused, and may be tried
 * again.
 */
enum ReservedStreams implements StreamAcceptor {
  /** Single instance. */
  NOT_YET;

  @Override
  public EventLoop loop(LinkPeer peer) {
    throw new IllegalStateException("a stream on " + peer.channel() + ", which is to be refused");
  }

  @Override
  public ChannelHandler handler(LinkPeer peer) {
    throw new IllegalStateException("a stream on " + peer.channel() + ", which is to be refused");
  }
}
