package io.eventbus.server.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Closes connections for which there is no descriptor to spare, before a loop hears of them. Other
 * parts of the process, the administration for instance, would have none left. For the thread that
 * accepts.
 */
@Sharable
final class AcceptGuard extends ChannelInboundHandlerAdapter {
  private final ConnectionAdmission admission;

  AcceptGuard(ConnectionAdmission admission) {
    this.admission = admission;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof Channel accepted && !admission.acquireSocket(accepted)) {
      accepted.unsafe().closeForcibly();
      return;
    }
    ctx.fireChannelRead(message);
  }
}
