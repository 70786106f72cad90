package io.eventbus.loadtest.driver.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NatsStreamTest {
  private final List<String> received = new ArrayList<>();
  private final SocketChannel channel;
  private final NatsStream stream;

  NatsStreamTest() throws IOException {
    channel = SocketChannel.open();
    stream =
        new NatsStream(
            channel, payload -> received.add(StandardCharsets.US_ASCII.decode(payload).toString()));
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
  }

  /** Puts text into frames of a server, of so many bytes each. */
  private static byte[] frames(String text, int size) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    for (int at = 0; at < bytes.length; at += size) {
      int length = Math.min(size, bytes.length - at);
      ByteBuffer head = ByteBuffer.allocate(10).put((byte) 0x82);
      if (length < 126) {
        head.put((byte) length);
      } else if (length < 65_536) {
        head.put((byte) 126).putShort((short) length);
      } else {
        head.put((byte) 127).putLong(length);
      }
      out.write(head.array(), 0, head.position());
      out.write(bytes, at, length);
    }
    return out.toByteArray();
  }

  @Test
  void findsEveryMessageHoweverTheBytesAreCut() throws IOException {
    String large = "x".repeat(200_000);
    String text =
        "INFO {\"a\":1}\r\nPONG\r\nMSG load.0 1 5\r\nhello\r\nMSG load.0 1 7\r\nwo\r\nrld\r\n"
            + "MSG load.12 1 200000\r\n"
            + large
            + "\r\nMSG load.0 1 0\r\n\r\nPONG\r\n";
    for (int frame : new int[] {1, 7, 125, 126, 4096, 70_000, 1_000_000}) {
      for (int read : new int[] {1, 3, 1000, 1_000_000}) {
        received.clear();
        int pongs = stream.pongs();
        byte[] bytes = frames(text, frame);
        for (int at = 0; at < bytes.length; at += read) {
          stream.accept(ByteBuffer.wrap(bytes, at, Math.min(read, bytes.length - at)));
        }
        assertThat(received).containsExactly("hello", "wo\r\nrld", large, "");
        assertThat(stream.pongs()).isEqualTo(pongs + 2);
      }
    }
  }

  @Test
  void anErrorOfTheServerAndAClosedConnectionAreFailures() {
    assertThatThrownBy(() -> stream.accept(ByteBuffer.wrap(frames("-ERR 'no'\r\n", 100))))
        .isInstanceOf(IOException.class)
        .hasMessage("the server said: -ERR 'no'");
    assertThatThrownBy(() -> stream.accept(ByteBuffer.wrap(new byte[] {(byte) 0x88, 0})))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
  }
}
