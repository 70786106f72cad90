package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.UnfinishedMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestHeadTest {
  private static final int MAX_BYTES = 100;
  private static final String REQUEST = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

  private final UnfinishedMemory memory = new BusMemory(1L << 20).shortPieces();
  private final AtomicInteger refused = new AtomicInteger();
  private final RequestHead head = new RequestHead(MAX_BYTES, memory, refused::incrementAndGet);
  private final EmbeddedChannel channel = new EmbeddedChannel(head);

  @AfterEach
  void keepsNothing() {
    channel.finishAndReleaseAll();
    assertThat(memory.used()).isZero();
  }

  private void read(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
  }

  private String passedOn() {
    StringBuilder all = new StringBuilder();
    for (ByteBuf next = channel.readInbound(); next != null; next = channel.readInbound()) {
      all.append(next.toString(StandardCharsets.US_ASCII));
      next.release();
    }
    return all.toString();
  }

  @Test
  void aWholeHeadPassesWithWhatFollows() {
    read(REQUEST + "frames");
    assertThat(passedOn()).isEqualTo(REQUEST + "frames");
    assertThat(channel.pipeline().get(RequestHead.class)).isNull();
    read("more");
    assertThat(passedOn()).isEqualTo("more");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 26})
  void aHeadInPiecesPassesWhenItIsWhole(int size) {
    for (int at = 0; at < REQUEST.length(); at += size) {
      assertThat(channel.inboundMessages()).isEmpty();
      read(REQUEST.substring(at, Math.min(REQUEST.length(), at + size)));
      assertThat(memory.used()).isEqualTo(head.heldBytes());
    }
    assertThat(passedOn()).isEqualTo(REQUEST);
    assertThat(memory.used()).isZero();
  }

  @Test
  void linesMayEndWithoutCarriageReturns() {
    read("GET / HTTP/1.1\nHost: h\n");
    assertThat(channel.inboundMessages()).isEmpty();
    read("\n");
    assertThat(passedOn()).endsWith("h\n\n");
  }

  @Test
  void aTooLongHeadIsPassedToTheDecoder() {
    String line = "GET / HTTP/1.1\r\n";
    read(line + "a:\r\n".repeat((MAX_BYTES - line.length()) / 4 - 1));
    assertThat(channel.inboundMessages()).isEmpty();
    read("a:\r\n");
    assertThat(passedOn()).hasSizeGreaterThanOrEqualTo(MAX_BYTES);
    read("b:\r\n\r\n");
    assertThat(passedOn()).as("the decoder would take it line by line").isEmpty();
  }

  @Test
  void bytesThatAreNoRequestArePassedToTheDecoder() {
    read("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n");
    assertThat(passedOn()).startsWith("PROXY");
    read("GET / HTTP/1.1\r\n");
    assertThat(passedOn()).isEmpty();
  }

  @Test
  void emptyLinesBeforeTheRequestEndNoHead() {
    read("\r\n\r\n");
    read("\r\n");
    read("GET / HTTP/1.1\r\na:\r\n");
    assertThat(channel.inboundMessages()).isEmpty();
    read("\r\n");
    assertThat(passedOn()).endsWith("a:\r\n\r\n");
  }

  @Test
  void aHeadWithoutRoomIsRefusedAndTheRestDropped() {
    assertThat(memory.tryAcquire(memory.limit())).isTrue();
    read("GET / ");
    assertThat(refused).hasValue(1);
    read("HTTP/1.1\r\n\r\n");
    assertThat(passedOn()).isEmpty();
    assertThat(refused).hasValue(1);
    memory.release(memory.limit());
  }

  @Test
  void aWholeHeadNeedsNoRoom() {
    assertThat(memory.tryAcquire(memory.limit())).isTrue();
    read(REQUEST);
    assertThat(passedOn()).isEqualTo(REQUEST);
    memory.release(memory.limit());
  }

  @Test
  void quotasAreReleasedWithTheClient() {
    read("GET / ");
    assertThat(memory.used()).isPositive();
    channel.close().syncUninterruptibly();
    assertThat(memory.used()).isZero();
  }
}
