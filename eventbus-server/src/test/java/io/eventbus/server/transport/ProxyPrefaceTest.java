package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.haproxy.HAProxyProtocolException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Beginning of a connection from a proxy, in pieces of every size. */
class ProxyPrefaceTest {
  private static final String REQUEST = "GET /bus HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

  private final List<InetSocketAddress> told = new ArrayList<>();
  private int untold;

  /** Feeds bytes in pieces and returns what passed. */
  private String pass(byte[] bytes, int piece) {
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new ProxyPreface(client -> client.ifPresentOrElse(told::add, () -> untold++)));
    try {
      for (int i = 0; i < bytes.length; i += piece) {
        channel.writeInbound(Unpooled.copiedBuffer(bytes, i, Math.min(piece, bytes.length - i)));
      }
      StringBuilder on = new StringBuilder();
      for (ByteBuf part = channel.readInbound(); part != null; part = channel.readInbound()) {
        on.append(part.toString(StandardCharsets.ISO_8859_1));
        part.release();
      }
      return on.toString();
    } finally {
      channel.finishAndReleaseAll();
    }
  }

  private static byte[] v2(String hex) {
    byte[] head = HexFormat.of().parseHex(SIGNATURE + hex);
    byte[] request = REQUEST.getBytes(StandardCharsets.US_ASCII);
    return Unpooled.wrappedBuffer(head, request).copy().array();
  }

  private static byte[] text(String head) {
    return (head + REQUEST).getBytes(StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 1000})
  void theFirstVersionTellsTheClient(int piece) {
    assertThat(pass(text("PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n"), piece))
        .isEqualTo(REQUEST);
    assertThat(pass(text("PROXY TCP6 2001:db8::1 2001:db8::2 4711 443\r\n"), piece))
        .isEqualTo(REQUEST);
    assertThat(told.toString()).contains("203.0.113.7:4711").contains("2001:db8:0:0:0:0:0:1]:4711");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 1000})
  void theSecondVersionTellsTheClient(int piece) {
    assertThat(pass(v2("2111000c" + "cb007107" + "c0000201" + "1267" + "01bb"), piece))
        .isEqualTo(REQUEST);
    assertThat(told).hasSize(1);
    assertThat(told.get(0).getAddress().getHostAddress()).isEqualTo("203.0.113.7");
    assertThat(told.get(0).getPort()).isEqualTo(4711);
  }

  @Test
  void aProxyMaySpeakForItself() {
    assertThat(pass(v2("20000000"), 7)).isEqualTo(REQUEST);
    assertThat(pass(text("PROXY UNKNOWN\r\n"), 7)).isEqualTo(REQUEST);
    assertThat(told).isEmpty();
    assertThat(untold).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 1000})
  void withoutAPrefaceAllGoesOn(int piece) {
    assertThat(pass(text(""), piece)).isEqualTo(REQUEST);
    assertThat(pass(text("P"), piece)).isEqualTo("P" + REQUEST);
    assertThat(told).isEmpty();
    assertThat(untold).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PROXY TCP4 203.0.113.700 192.0.2.1 4711 443\r\n",
        "PROXY TCP4 203.0.113.7 192.0.2.1 99999 443\r\n",
        "PROXY TCP4\r\n",
        "PROXY nonsense and more of it\r\n"
      })
  void aBrokenPrefaceIsAnError(String head) {
    assertThatThrownBy(() -> pass(text(head), 1000)).isInstanceOf(HAProxyProtocolException.class);
    assertThat(told).isEmpty();
  }

  @Test
  void aPrefaceWithoutEndIsAnError() {
    byte[] endless = ("PROXY TCP4 " + "1".repeat(10_000)).getBytes(StandardCharsets.US_ASCII);
    assertThatThrownBy(() -> pass(endless, 50)).isInstanceOf(HAProxyProtocolException.class);
    assertThatThrownBy(() -> pass(v2("2111ffff" + "00".repeat(20_000)), 1000))
        .isInstanceOf(HAProxyProtocolException.class);
  }

  @Test
  void anyBytesAreUnderstoodOrRefused() {
    Random random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = v2("2111000c" + "cb007107" + "c0000201" + "1267" + "01bb");
      for (int n = random.nextInt(4); n >= 0; n--) {
        bytes[12 + random.nextInt(20)] = (byte) random.nextInt(256);
      }
      assertUnderstoodOrRefused(bytes, 1 + random.nextInt(40));
    }
    assertThat(told).isNotEmpty();
  }

  private void assertUnderstoodOrRefused(byte[] bytes, int piece) {
    try {
      pass(bytes, piece);
    } catch (DecoderException e) {
      assertThat(e).isNotNull();
    }
  }
}
