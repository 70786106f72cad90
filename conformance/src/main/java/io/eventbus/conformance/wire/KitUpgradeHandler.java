package io.eventbus.conformance.wire;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker13;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Answers an upgrade request, and makes a {@link WireConnection} of its connection. */
@SuppressWarnings("FutureReturnValueIgnored") // As in WireConnection.
final class KitUpgradeHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final int MAX_MESSAGE = 16 * 1024 * 1024;
  private static final WebSocketDecoderConfig STRICT =
      WebSocketDecoderConfig.newBuilder()
          .maxFramePayloadLength(MAX_MESSAGE)
          .expectMaskedFrames(true)
          .allowExtensions(false)
          .withUTF8Validator(false)
          .build();

  private final ScriptedBus bus;
  private final WireListener listener;
  // Time of the accepted channel, with which the handler is created.
  private final long acceptedAt = System.nanoTime();

  KitUpgradeHandler(ScriptedBus bus, WireListener listener) {
    this.bus = bus;
    this.listener = listener;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put(":method", request.method().name());
    headers.put(":path", request.uri());
    request
        .headers()
        .forEach(
            header ->
                headers.merge(
                    header.getKey().toLowerCase(Locale.ROOT),
                    header.getValue(),
                    (a, b) -> a + ", " + b));
    Upgrade answer = listener.upgrading(bus, headers);
    if (answer.status() == 101) {
      accept(context, request, answer);
    } else if (answer.status() == 0) {
      context.close();
    } else if (answer.status() > 0) {
      refuse(context, answer);
    }
  }

  private static void refuse(ChannelHandlerContext context, Upgrade answer) {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(body));
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length);
    response.headers().set(HttpHeaderNames.CONNECTION, "close");
    // A page reads the reason with a plain GET.
    response.headers().set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    answer.headers().forEach((name, value) -> response.headers().set(name, value));
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  private void accept(ChannelHandlerContext context, FullHttpRequest request, Upgrade answer) {
    WebSocketServerHandshaker handshaker =
        new WebSocketServerHandshaker13(
            bus.url(), answer.subprotocol().isEmpty() ? null : answer.subprotocol(), STRICT);
    WireConnection connection = new WireConnection(bus, context.channel(), listener, acceptedAt);
    handshaker
        .handshake(context.channel(), request)
        .addListener(
            done -> {
              if (done.isSuccess()) {
                // Only here, because the HTTP codec was removed only now.
                context
                    .pipeline()
                    .addLast(new WebSocketFrameAggregator(MAX_MESSAGE), connection.handler());
                listener.opened(connection);
              } else {
                context.close();
              }
            });
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
