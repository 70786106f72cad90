package io.eventbus.server.transport;

import io.eventbus.server.admission.Admission;
import io.eventbus.server.transport.websocket.RequestHead;
import io.eventbus.server.transport.websocket.UpgradeHandshake;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.ssl.SslHandler;
import java.util.IdentityHashMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Initializer of accepted connections. Shared by all loops. */
// A failed write or close ends the channel, which is handled; single futures are not.
@SuppressWarnings("FutureReturnValueIgnored")
final class ConnectionInitializer extends ChannelInitializer<Channel> {
  private static final int MAX_REQUEST_LINE = 4096;
  private static final int MAX_REQUEST_HEADERS = 16 * 1024;

  private final IdentityHashMap<EventLoop, ConnectionLoop> loops;
  private final UpgradeHandshake handshake;
  private final @Nullable TlsContexts tls;
  private final TlsTasks tlsTasks;
  private final TlsFailures tlsFailures;
  private final ConnectionAdmission admission;

  ConnectionInitializer(
      IdentityHashMap<EventLoop, ConnectionLoop> loops,
      UpgradeHandshake handshake,
      @Nullable TlsContexts tls,
      TlsTasks tlsTasks,
      TlsFailures tlsFailures,
      ConnectionAdmission admission) {
    this.loops = loops;
    this.handshake = handshake;
    this.tls = tls;
    this.tlsTasks = tlsTasks;
    this.tlsFailures = tlsFailures;
    this.admission = admission;
  }

  @Override
  protected void initChannel(Channel channel) {
    ConnectionLoop loop = loops.get(channel.eventLoop());
    if (loop == null) {
      throw new IllegalStateException("a connection on an unknown loop");
    }
    Optional<Admission.Refused> refusal = admission.enter(channel);
    if (refusal.isPresent() && !admission.acquireAnswer(channel)) {
      channel.close();
      return;
    }
    UpgradeHandler upgrade = new UpgradeHandler(loop, handshake, admission);
    if (admission.isProxy(channel.remoteAddress()) && refusal.isEmpty()) {
      channel.pipeline().addLast(new ProxyPreface(upgrade::proxied));
    }
    if (tls != null) {
      SslHandler handler =
          new ClientTls(
              tls.current().newEngine(channel.alloc()),
              tlsTasks.forConnection(),
              loop,
              failure -> tlsFailures.tell(ConnectionAdmission.account(channel), failure));
      handler.setHandshakeTimeoutMillis(loop.config().timeouts().upgrade().toMillis());
      TlsReadThrottle turns = new TlsReadThrottle(loop, admission::tlsTooLong);
      channel.pipeline().addLast(turns).addLast(handler).addLast(turns.observer());
    }
    RequestHead head =
        new RequestHead(
            MAX_REQUEST_LINE + MAX_REQUEST_HEADERS,
            loop.context().bus().memory().shortPieces(),
            upgrade::refuseNoRoom);
    upgrade.waitsFor(head);
    channel
        .pipeline()
        .addLast(head)
        .addLast(
            new HttpRequestDecoder(
                new HttpDecoderConfig()
                    .setMaxInitialLineLength(MAX_REQUEST_LINE)
                    .setMaxHeaderSize(MAX_REQUEST_HEADERS)))
        .addLast(upgrade);
    refusal.ifPresent(upgrade::refuseBusy);
  }
}
