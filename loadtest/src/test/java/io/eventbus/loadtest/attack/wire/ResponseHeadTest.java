package io.eventbus.loadtest.attack.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ResponseHeadTest {
  private final ResponseHead head = new ResponseHead();

  private static ByteBuf octets(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }

  @Test
  void theStatusComesWithTheEndOfTheHead() {
    assertThat(head.take(octets("HTTP/1.1 101 Switching\r\nA: b\r\n\r"))).isZero();
    ByteBuf rest = octets("\nframes");
    assertThat(head.take(rest)).isEqualTo(101);
    assertThat(rest.toString(StandardCharsets.US_ASCII)).isEqualTo("frames");
  }

  @Test
  void whatIsNoHttpIsBroken() {
    assertThat(head.take(octets("SSH-2.0\r\n\r\n"))).isEqualTo(ResponseHead.BROKEN);
    assertThat(new ResponseHead().take(octets("HTTP/1.1 4x3 What\r\n\r\n")))
        .isEqualTo(ResponseHead.BROKEN);
  }

  @Test
  void aHeadWithoutEndIsBroken() {
    assertThat(head.take(octets("HTTP/1.1 200 " + "a".repeat(20_000))))
        .isEqualTo(ResponseHead.BROKEN);
  }
}
