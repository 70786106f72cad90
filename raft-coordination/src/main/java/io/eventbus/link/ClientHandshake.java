package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.CorruptedFrameException;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;

/**
 * The client's part of the handshake; on success it is replaced by a {@link Link} or by a stream.
 *
 * @param <T> the type of the result
 */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class ClientHandshake<T> extends SimpleChannelInboundHandler<LinkFrame> {
  /** Continuation of a successful handshake. */
  interface Next<T> {
    T open(ChannelHandlerContext ctx, ChannelHandler handshake, LinkPeer peer);
  }

  private final LinkPeer self;
  private final byte[] key;
  private final Next<T> next;
  private final CompletableFuture<T> opened;
  private final byte[] nonce = new byte[LinkHandshake.NONCE_BYTES];
  private byte[] hello = new byte[0];
  private byte[] serverNonce = new byte[0];

  ClientHandshake(
      LinkPeer self, byte[] key, Next<T> next, SecureRandom random, CompletableFuture<T> opened) {
    this.self = self;
    this.key = key;
    this.next = next;
    this.opened = opened;
    random.nextBytes(nonce);
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    ByteBuf body =
        new LinkHandshake.Hello(LinkHandshake.VERSION, LinkHandshake.VERSION, self, nonce).encode();
    hello = ByteBufUtil.getBytes(body);
    ctx.writeAndFlush(LinkCodec.frame(LinkFrame.HELLO, body));
    ctx.fireChannelActive();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, LinkFrame frame) {
    ByteBuf in = frame.content();
    if (frame.typeCode == LinkFrame.CHALLENGE && serverNonce.length == 0) {
      serverNonce = LinkHandshake.nonce(LinkCodec.readBytes(in));
      ByteBuf body = Unpooled.buffer(40);
      LinkCodec.writeBytes(body, LinkHandshake.clientProof(key, hello, serverNonce));
      ctx.writeAndFlush(LinkCodec.frame(LinkFrame.PROOF, body));
    } else if (frame.typeCode == LinkFrame.READY && serverNonce.length > 0) {
      ready(ctx, LinkHandshake.Ready.decode(in, self.channel()));
    } else if (frame.typeCode == LinkFrame.REFUSED) {
      LinkRefusal reason = LinkRefusal.valueOf(LinkCodec.readString(in));
      fail(ctx, new LinkException(LinkCodec.readString(in), reason, false));
    } else {
      throw new CorruptedFrameException("typeCode: " + frame.typeCode + " (out of order)");
    }
  }

  private void ready(ChannelHandlerContext ctx, LinkHandshake.Ready ready) {
    byte[] expected =
        LinkHandshake.serverProof(key, hello, serverNonce, ready.version(), ready.peer());
    if (!LinkHandshake.matches(expected, ready.mac())) {
      fail(
          ctx,
          new LinkException(
              "the other side does not hold the shared secret", LinkRefusal.AUTHENTICATION, false));
    } else if (ServerHandshake.isForeign(self, ready.peer())) {
      fail(
          ctx,
          new LinkException(
              ServerHandshake.foreign(self, ready.peer()), LinkRefusal.OTHER_CLUSTER, false));
    } else {
      opened.complete(next.open(ctx, this, ready.peer()));
    }
  }

  private void fail(ChannelHandlerContext ctx, LinkException error) {
    opened.completeExceptionally(error);
    ctx.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    fail(ctx, new LinkException("the other side closed the link", null, false));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    fail(ctx, new LinkException("the handshake failed", cause));
  }
}
