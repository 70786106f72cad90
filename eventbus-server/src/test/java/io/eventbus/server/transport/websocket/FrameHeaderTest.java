package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.CloseReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FrameHeaderTest {
  private final FrameHeader header = new FrameHeader();

  private static ByteBuf bytes(String hex) {
    return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex));
  }

  @ParameterizedTest
  @CsvSource({
    // hex, fin, opcode, length, header bytes
    "82800a0b0c0d, true, 2, 0, 6",
    "02fd0a0b0c0d, false, 2, 125, 6",
    "81fe007e0a0b0c0d, true, 1, 126, 8",
    "81feffff0a0b0c0d, true, 1, 65535, 8",
    "80ff00000000000100000a0b0c0d, true, 0, 65536, 14",
    "80ff7fffffffffffffff0a0b0c0d, true, 0, 9223372036854775807, 14",
    "89fd0a0b0c0d, true, 9, 125, 6",
    "8a800a0b0c0d, true, 10, 0, 6",
    "88800a0b0c0d, true, 8, 0, 6"
  })
  void readsEveryForm(String hex, boolean fin, int opcode, long length, int headerBytes)
      throws Exception {
    ByteBuf in = bytes(hex);
    assertThat(header.read(in, false)).isTrue();
    assertThat(header.fin).isEqualTo(fin);
    assertThat(header.compressed).isFalse();
    assertThat(header.opcode).isEqualTo(opcode);
    assertThat(header.length).isEqualTo(length);
    assertThat(header.headerBytes).isEqualTo(headerBytes);
    assertThat(header.mask).isEqualTo(0x0a0b0c0d);
    assertThat(in.readerIndex()).isZero();
    for (int n = 0; n < headerBytes; n++) {
      assertThat(header.read(in.slice(0, n), false)).as("%d bytes", n).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "8200", // no mask
        "8205", // no mask
        "9280", // RSV3
        "a280", // RSV2
        "c280", // RSV1 without an extension
        "8380", // opcode 3
        "8780", // opcode 7
        "8b80", // opcode 11
        "8f80", // opcode 15
        "0980", // fragmented ping
        "0880", // fragmented close
        "89fe", // long ping
        "88ff", // long close
        "82fe007d0a0b0c0d", // 125 in 16 bits
        "82ff000000000000ffff0a0b0c0d", // 65535 in 64 bits
        "82ff80000000000000000a0b0c0d" // the most significant bit
      })
  void refusesWhatTheRfcForbids(String hex) {
    assertThatThrownBy(() -> header.read(bytes(hex), false))
        .isInstanceOfSatisfying(
            WebSocketViolation.class,
            e -> {
              assertThat(e.reason()).isEqualTo(CloseReason.PROTOCOL_ERROR);
              assertThat(e.text()).contains("expected");
            });
  }

  @Test
  void aNegotiatedCompressionAllowsItsBitOnTheFirstDataFrameOnly() throws Exception {
    assertThat(header.read(bytes("c2800a0b0c0d"), true)).isTrue();
    assertThat(header.compressed).isTrue();
    assertThat(header.read(bytes("41800a0b0c0d"), true)).isTrue();
    assertThat(header.read(bytes("82800a0b0c0d"), true)).isTrue();
    assertThat(header.compressed).isFalse();
    for (String hex : new String[] {"c080", "c980", "c880", "e280"}) {
      assertThatThrownBy(() -> header.read(bytes(hex), true))
          .as(hex)
          .isInstanceOf(WebSocketViolation.class);
    }
  }
}
