package io.eventbus.link;

import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;

/** Streams that will be taken, but are not yet: they are refused, and may be tried again. */
enum ReservedStreams implements StreamAcceptor {
  /** All of them. */
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
