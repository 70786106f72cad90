package io.eventbus.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.DecoderException;
import java.security.SecureRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server's part of the handshake; on success it puts a {@link Link} in its place. */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class ServerHandshake extends SimpleChannelInboundHandler<LinkFrame> {
  private static final Logger log = LoggerFactory.getLogger(ServerHandshake.class);

  /** Maximum number of characters of a reason in the log. */
  private static final int MAX_REASON = 300;

  private final LinkIdentity identity;
  private final byte[] key;
  private final LinkSetup setup;
  private final LinkCounters counters;
  private final Runnable ended;
  private final Consumer<Link> opened;
  private final Function<String, @Nullable StreamAcceptor> streams;
  private final Function<String, @Nullable EventLoop> loops;
  private final byte[] nonce = new byte[LinkHandshake.NONCE_BYTES];
  private LinkHandshake.@Nullable Hello hello;
  private byte[] helloBytes = new byte[0];

  ServerHandshake(
      LinkIdentity identity,
      byte[] key,
      LinkSetup setup,
      LinkCounters counters,
      SecureRandom random,
      Runnable ended,
      Consumer<Link> opened,
      Function<String, @Nullable StreamAcceptor> streams,
      Function<String, @Nullable EventLoop> loops) {
    this.identity = identity;
    this.key = key;
    this.setup = setup;
    this.counters = counters;
    this.ended = ended;
    this.opened = opened;
    this.streams = streams;
    this.loops = loops;
    random.nextBytes(nonce);
  }

  /** Ends the deadline, once it is a link or a stream, or closed. */
  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    ended.run();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, LinkFrame frame) {
    LinkHandshake.Hello said = hello;
    if (said == null && frame.typeCode == LinkFrame.HELLO) {
      helloBytes = ByteBufUtil.getBytes(frame.content());
      hello = LinkHandshake.Hello.decode(frame.content());
      ByteBuf body = Unpooled.buffer(40);
      LinkCodec.writeBytes(body, nonce);
      ctx.writeAndFlush(LinkCodec.frame(LinkFrame.CHALLENGE, body));
    } else if (said != null && frame.typeCode == LinkFrame.PROOF) {
      byte[] proof = LinkCodec.readBytes(frame.content());
      answer(ctx, said, proof);
    } else {
      throw new CorruptedFrameException("typeCode: " + frame.typeCode + " (out of order)");
    }
  }

  private void answer(ChannelHandlerContext ctx, LinkHandshake.Hello said, byte[] proof) {
    LinkPeer self = identity.asPeer(said.peer().channel());
    if (!LinkHandshake.matches(LinkHandshake.clientProof(key, helloBytes, nonce), proof)) {
      counters.strangers.increment();
      refuse(ctx, LinkRefusal.AUTHENTICATION, "the proof of the shared secret is wrong");
    } else if (said.minVersion() > LinkHandshake.VERSION
        || said.maxVersion() < LinkHandshake.VERSION) {
      refuse(
          ctx,
          LinkRefusal.VERSION,
          "version of the links: "
              + said.minVersion()
              + " to "
              + said.maxVersion()
              + " (expected: "
              + LinkHandshake.VERSION
              + ")");
    } else if (isForeign(self, said.peer())) {
      refuse(ctx, LinkRefusal.OTHER_CLUSTER, foreign(self, said.peer()));
    } else if (streams.apply(said.peer().channel()) instanceof ReservedStreams) {
      // Happens whenever a bus starts: nothing for the log.
      sendRefusal(
          ctx,
          LinkRefusal.BUSY,
          "the bus starts, and accepts no streams on channel " + said.peer().channel() + " yet");
    } else {
      byte[] mac = LinkHandshake.serverProof(key, helloBytes, nonce, LinkHandshake.VERSION, self);
      ByteBuf ready = new LinkHandshake.Ready(LinkHandshake.VERSION, self, mac).encode();
      ctx.writeAndFlush(LinkCodec.frame(LinkFrame.READY, ready));
      StreamAcceptor stream = streams.apply(said.peer().channel());
      EventLoop dedicated = loops.apply(said.peer().channel());
      if (stream != null) {
        setup.handOver(ctx, this, said.peer(), stream);
      } else if (dedicated != null && dedicated != ctx.channel().eventLoop()) {
        setup.openOn(dedicated, ctx, this, said.peer(), opened);
      } else {
        opened.accept(setup.open(ctx, this, said.peer()));
      }
    }
  }

  static boolean isForeign(LinkPeer self, LinkPeer other) {
    return differ(self.name(), other.name()) || differ(self.cluster(), other.cluster());
  }

  private static boolean differ(String mine, String theirs) {
    return !mine.isEmpty() && !theirs.isEmpty() && !mine.equals(theirs);
  }

  /** Describes, for people, why the other side does not belong here. */
  static String foreign(LinkPeer self, LinkPeer other) {
    return differ(self.name(), other.name())
        ? "name of the cluster: " + other.name() + " (expected: " + self.name() + ")"
        : "cluster: " + other.cluster() + " (expected: " + self.cluster() + ")";
  }

  private void tell(ChannelHandlerContext ctx, String message) {
    counters.refusals.info(
        "refusal", "A link from {} is refused: {}", ctx.channel().remoteAddress(), message);
  }

  private void refuse(ChannelHandlerContext ctx, LinkRefusal reason, String message) {
    tell(ctx, message);
    sendRefusal(ctx, reason, message);
  }

  private static void sendRefusal(ChannelHandlerContext ctx, LinkRefusal reason, String message) {
    ByteBuf body = Unpooled.buffer(256);
    LinkCodec.writeString(body, reason.name());
    LinkCodec.writeString(body, message);
    ctx.writeAndFlush(LinkCodec.frame(LinkFrame.REFUSED, body))
        .addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    counters.strangers.increment();
    tell(ctx, shortened(cause));
    log.debug("A link from {} failed to open", ctx.channel().remoteAddress(), cause);
    ctx.close();
  }

  /** Returns why it failed; the text may contain text from the other side. */
  private static String shortened(Throwable cause) {
    Throwable root =
        cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
    String text = root.toString();
    return text.substring(0, Math.min(text.length(), MAX_REASON));
  }
}
