package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.CloseReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PermessageDeflateTest {
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final PermessageDeflate deflate = new PermessageDeflate(6);

  @AfterEach
  void assertNoBufferLeaks() {
    deflate.close();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }

  private byte[] roundTrip(byte[] message, int limit) throws WebSocketViolation {
    ByteBuf small = deflate.deflate(allocator, ByteBuffer.wrap(message));
    try {
      ByteBuf plain = deflate.inflate(allocator, small, limit);
      byte[] found = ByteBufUtil.getBytes(plain);
      plain.release();
      return found;
    } finally {
      small.release();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, false",
    "1, false",
    "100, false",
    "16384, false",
    "16384, true",
    "16300, true",
    "16350, true",
    "16379, true",
    "16380, true",
    "100000, false",
    "100000, true",
    "1000000, true"
  })
  void deflatedMessagesInflate(int size, boolean random) throws Exception {
    byte[] message = new byte[size];
    if (random) {
      new Random(size).nextBytes(message);
    }
    assertThat(roundTrip(message, Math.max(1, size))).isEqualTo(message);
    assertThat(roundTrip(message, 1 << 24)).as("nothing is taken over").isEqualTo(message);
  }

  /** Examples of RFC 7692, section 7.2.3. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "f248cdc9c90700", // 7.2.3.1
        "000500faff48656c6c6f00", // 7.2.3.3, a block without compression
        "f348cdc9c9070000", // 7.2.3.4, BFINAL
        "f248050000 00ffff cac9c90700" // 7.2.3.5, two blocks
      })
  void theExamplesOfTheRfcAreHello(String hex) throws Exception {
    ByteBuf in =
        allocator.directBuffer().writeBytes(ByteBufUtil.decodeHexDump(hex.replace(" ", "")));
    ByteBuf plain = deflate.inflate(allocator, in, 100);
    assertThat(new String(ByteBufUtil.getBytes(plain), java.nio.charset.StandardCharsets.US_ASCII))
        .isEqualTo("Hello");
    plain.release();
    in.release();
  }

  @Test
  void anOfferWithAParameterTwiceIsDeclined() {
    String twice = "permessage-deflate; client_max_window_bits; client_max_window_bits=10";
    assertThat(PermessageDeflate.negotiate(List.of(twice))).isNull();
    assertThat(PermessageDeflate.negotiate(List.of(twice + ", permessage-deflate")))
        .as("the next offer")
        .isNotNull();
  }

  @Test
  void aBombStopsAtTheLimit() {
    ByteBuf bomb = deflate.deflate(allocator, ByteBuffer.wrap(new byte[50_000_000]));
    assertThat(bomb.readableBytes()).isLessThan(100_000);
    long before = allocator.metric().usedDirectMemory();
    assertThatThrownBy(() -> deflate.inflate(allocator, bomb, 1_000_000))
        .isInstanceOfSatisfying(
            WebSocketViolation.class, e -> assertThat(e.reason()).isEqualTo(CloseReason.TOO_BIG))
        .hasMessageContaining("1000000");
    assertThat(allocator.metric().usedDirectMemory()).isEqualTo(before);
    bomb.release();
  }

  @Test
  void theLimitItselfIsAllowed() throws Exception {
    assertThat(roundTrip(new byte[1000], 1000)).hasSize(1000);
    assertThatThrownBy(() -> roundTrip(new byte[1001], 1000))
        .isInstanceOf(WebSocketViolation.class);
  }

  @Test
  void brokenDataIsRefusedAndTheNextMessageIsNotHarmed() throws Exception {
    ByteBuf broken = allocator.directBuffer().writeBytes(new byte[] {7, 7, 7, 7});
    assertThatThrownBy(() -> deflate.inflate(allocator, broken, 100))
        .isInstanceOfSatisfying(
            WebSocketViolation.class, e -> assertThat(e.reason()).isEqualTo(CloseReason.MALFORMED));
    broken.release();
    assertThat(roundTrip(new byte[] {1, 2, 3}, 10)).containsExactly(1, 2, 3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "permessage-deflate",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=15; server_no_context_takeover",
        "x-webkit-deflate-frame, permessage-deflate",
        "permessage-deflate; server_max_window_bits=10, permessage-deflate"
      })
  void acceptsWhatItCanDo(String offer) {
    assertThat(PermessageDeflate.negotiate(List.of(offer)))
        .isEqualTo("permessage-deflate; server_no_context_takeover; client_no_context_takeover");
  }

  @Test
  void repeatsALimitThatWasAskedFor() {
    String offer = "Permessage-Deflate;Client_No_Context_Takeover ; server_max_window_bits=\"15\"";
    assertThat(PermessageDeflate.negotiate(List.of(offer))).endsWith("; server_max_window_bits=15");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "foo",
        "permessage-deflate-2",
        "permessage-deflate; server_max_window_bits=10",
        "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; unknown",
        "permessage-deflate; server_no_context_takeover=1"
      })
  void declinesWhatItCannot(String offer) {
    assertThat(PermessageDeflate.negotiate(List.of(offer))).isNull();
    assertThat(PermessageDeflate.negotiate(List.of())).isNull();
    assertThat(PermessageDeflate.negotiate(List.of(offer, "permessage-deflate"))).isNotNull();
  }
}
