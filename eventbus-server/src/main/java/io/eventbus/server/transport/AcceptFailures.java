package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.slf4j.LoggerFactory;

/**
 * Tells that no connection could be accepted, most likely because descriptors have run out. Netty
 * tries again after a second.
 */
final class AcceptFailures extends ChannelInboundHandlerAdapter {
  private final RateLimitedLog log =
      new RateLimitedLog(LoggerFactory.getLogger(AcceptFailures.class));

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    log.warn("accept", "no connection can be accepted for now: {}", cause);
  }
}
