package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.ProtocolDetectionState;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of the beginning of a connection from a proxy: the PROXY protocol (versions 1 and 2), if
 * the proxy speaks it, names the client's address. What follows goes on unchanged. The deadline for
 * the upgrade holds here, too.
 */
final class ProxyPreface extends ByteToMessageDecoder {
  /** Room for what proxies add to the addresses. */
  private static final int MAX_EXTENSION_BYTES = 4096;

  private final Consumer<Optional<InetSocketAddress>> source;

  /**
   * Creates the decoder.
   *
   * @param source gets the client's address, once if the proxy speaks the protocol; nothing if the
   *     proxy speaks for itself, or does not name it
   */
  ProxyPreface(Consumer<Optional<InetSocketAddress>> source) {
    this.source = source;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    ProtocolDetectionState state = HAProxyMessageDecoder.detectProtocol(in).state();
    if (state == ProtocolDetectionState.NEEDS_MORE_DATA) {
      return;
    }
    if (state == ProtocolDetectionState.DETECTED) {
      ctx.pipeline().addAfter(ctx.name(), "proxy-source", new Source(source));
      ctx.pipeline()
          .addAfter(ctx.name(), "proxy-decoder", new HAProxyMessageDecoder(MAX_EXTENSION_BYTES));
    }
    // The next handler gets what is here already.
    ctx.pipeline().remove(this);
  }

  /** Receiver of the one message that the decoder makes. */
  private static final class Source extends ChannelInboundHandlerAdapter {
    private final Consumer<Optional<InetSocketAddress>> source;

    Source(Consumer<Optional<InetSocketAddress>> source) {
      this.source = source;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      if (!(message instanceof HAProxyMessage preface)) {
        ctx.fireChannelRead(message);
        return;
      }
      try {
        Optional<InetSocketAddress> told = Optional.ofNullable(address(preface));
        ctx.pipeline().remove(this);
        source.accept(told);
      } finally {
        preface.release();
      }
    }

    private static @Nullable InetSocketAddress address(HAProxyMessage preface) {
      String text = preface.sourceAddress();
      byte[] bytes = text == null ? null : NetUtil.createByteArrayFromIpAddressString(text);
      if (preface.command() != HAProxyCommand.PROXY || bytes == null) {
        return null;
      }
      try {
        return new InetSocketAddress(InetAddress.getByAddress(bytes), preface.sourcePort());
      } catch (UnknownHostException e) {
        throw new IllegalStateException(bytes.length + " bytes (expected: 4 or 16)", e);
      }
    }
  }
}
