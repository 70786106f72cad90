package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.CloseReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CloseFrameTest {
  private static ByteBuf body(int code, byte... reason) {
    return Unpooled.buffer().writeShort(code).writeBytes(reason);
  }

  @Test
  void isNeverLongerThanAControlFrameMayBe() {
    ByteBuf frame = CloseFrame.encode(UnpooledByteBufAllocator.DEFAULT, 4001, "ä".repeat(200));
    assertThat(frame.getUnsignedByte(0)).isEqualTo((short) 0x88);
    assertThat(frame.getUnsignedByte(1)).isEqualTo((short) (frame.readableBytes() - 2));
    assertThat(frame.readableBytes()).isLessThanOrEqualTo(2 + 125);
    assertThat(frame.getUnsignedShort(2)).isEqualTo(4001);
    assertThat(frame.toString(4, frame.readableBytes() - 4, StandardCharsets.UTF_8))
        .isEqualTo("ä".repeat(61));
    frame.release();
  }

  @Test
  void noCodeIsAnsweredWithNone() {
    ByteBuf frame = CloseFrame.encode(UnpooledByteBufAllocator.DEFAULT, 1005, "");
    assertThat(frame.readableBytes()).isEqualTo(2);
    assertThat(frame.getUnsignedShort(0)).isEqualTo(0x8800);
    frame.release();
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 1001, 1002, 1003, 1007, 1008, 1011, 1014, 3000, 4000, 4999})
  void acceptsTheCodesThatMayBeSent(int code) throws Exception {
    assertThat(CloseFrame.check(body(code, (byte) 'x'))).isEqualTo(code);
    ByteBuf later = Unpooled.buffer().writeByte(9).writeShort(code);
    later.readByte();
    assertThat(CloseFrame.check(later)).isEqualTo(code);
  }

  @Test
  void acceptsAnEmptyBody() throws Exception {
    assertThat(CloseFrame.check(Unpooled.EMPTY_BUFFER)).isEqualTo(1005);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 999, 1004, 1005, 1006, 1015, 1100, 2000, 2999, 5000, 65535})
  void refusesTheOthers(int code) {
    assertThatThrownBy(() -> CloseFrame.check(body(code)))
        .isInstanceOfSatisfying(
            WebSocketViolation.class,
            e -> assertThat(e.reason()).isEqualTo(CloseReason.PROTOCOL_ERROR));
  }

  @Test
  void refusesHalfACodeAndBrokenText() {
    assertThatThrownBy(() -> CloseFrame.check(Unpooled.buffer().writeByte(3)))
        .isInstanceOfSatisfying(
            WebSocketViolation.class,
            e -> assertThat(e.reason()).isEqualTo(CloseReason.PROTOCOL_ERROR));
    for (byte[] text :
        new byte[][] {{(byte) 0xFF}, {(byte) 0xC3}, {(byte) 0xED, (byte) 0xA0, -128}}) {
      assertThatThrownBy(() -> CloseFrame.check(body(1000, text)))
          .isInstanceOfSatisfying(
              WebSocketViolation.class,
              e -> assertThat(e.reason()).isEqualTo(CloseReason.MALFORMED));
    }
  }
}
