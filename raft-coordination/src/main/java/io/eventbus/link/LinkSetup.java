package io.eventbus.link;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.timeout.IdleStateHandler;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Puts a link in the place of a handshake that is over. */
record LinkSetup(LinkOptions options, Map<Integer, LinkService> services, LinkCounters counters) {

  Link open(ChannelHandlerContext ctx, ChannelHandler handshake, LinkPeer peer) {
    counters.opened.increment();
    Link link = new Link(ctx.channel(), peer, options, services);
    ctx.pipeline().get(FrameDecoder.class).allow(options.maxFrameBytes());
    ctx.pipeline().remove(LinkNode.DEADLINE);
    ctx.pipeline()
        .addLast(
            new IdleStateHandler(
                options.silence().toMillis(),
                options.heartbeat().toMillis(),
                0,
                TimeUnit.MILLISECONDS));
    ctx.pipeline().addLast(link.handler());
    ctx.pipeline().remove(handshake);
    return link;
  }
}
