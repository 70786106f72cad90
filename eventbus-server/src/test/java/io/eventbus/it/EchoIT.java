package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Diagnostic endpoint with the most telling cases of public conformance suites. */
class EchoIT extends HostileTests {
  private static final String DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  private static final int TEXT = 1;
  private static final int BINARY = 2;
  private static final int FIN = 0x80;
  private static final int COMPRESSED = 0x40;

  @Override
  String[] settings() {
    return new String[] {
      "diagnostics.echo-path", "/echo",
      "diagnostics.echo-message-bytes", "17MiB",
      "compression.enabled", "true",
      "compression.min-bytes", "0",
      "timeouts.slow-subscriber", "1s",
      "timeouts.close", "1s"
    };
  }

  private RawClient echo(String headers) throws IOException {
    return RawClient.tcp(bus.uri()).upgrade("/echo", headers);
  }

  private static byte[] random(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return bytes;
  }

  private static void expect(RawClient client, int opcode, byte[] payload) throws Exception {
    RawClient.WsFrame frame = client.readWs();
    assertThat(frame).isNotNull();
    assertThat(frame.opcode()).isEqualTo(opcode);
    byte[] plain = frame.compressed() ? Deflating.inflate(frame.payload()) : frame.payload();
    assertThat(Arrays.equals(plain, payload)).as(plain.length + " bytes").isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0, 1, 7, 8, 125, 126, 127, 65_535, 65_536, 65_537, 4_194_305, 16_777_216, 17_825_792})
  void everySizeComesBack(int size) throws Exception {
    try (RawClient plain = echo("");
        RawClient deflated = echo(DEFLATE)) {
      byte[] bytes = random(size);
      plain.sendFrame(FIN | BINARY, bytes);
      expect(plain, BINARY, bytes);
      byte[] text = new byte[size];
      Arrays.fill(text, (byte) 'x');
      plain.sendFrame(FIN | TEXT, text);
      expect(plain, TEXT, text);
      deflated.sendFrame(FIN | COMPRESSED | TEXT, Deflating.deflate(text));
      expect(deflated, TEXT, text);
      deflated.sendFrame(FIN | BINARY, bytes);
      expect(deflated, BINARY, bytes);
    }
  }

  @Test
  void anExtraByteIsTooBig() throws Exception {
    try (RawClient client = echo("");
        RawClient deflated = echo(DEFLATE)) {
      client.raw(RawClient.frame(FIN | BINARY, new byte[0], 17 * 1024 * 1024 + 1));
      assertThat(Ending.of(client).code()).isEqualTo(1009);
      deflated.sendFrame(
          FIN | COMPRESSED | BINARY, Deflating.deflate(new byte[17 * 1024 * 1024 + 1]));
      assertThat(Ending.of(deflated).code()).isEqualTo(1009);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 1000, 65_536})
  void fragmentsComeBackAsOneMessage(int piece) throws Exception {
    byte[] bytes = random(100_000);
    byte[] deflated = Deflating.deflate(bytes);
    try (RawClient plain = echo("");
        RawClient compressed = echo(DEFLATE)) {
      int first = Math.min(piece, 1000) * 10;
      fragments(plain, BINARY, Arrays.copyOf(bytes, first), piece);
      expect(plain, BINARY, Arrays.copyOf(bytes, first));
      fragments(compressed, COMPRESSED | BINARY, deflated, Math.max(piece, 64));
      expect(compressed, BINARY, bytes);
    }
  }

  @Test
  void fourMebibytesInFragmentsOf64BytesComeBack() throws Exception {
    byte[] bytes = random(4 << 20);
    try (RawClient client = echo("")) {
      fragments(client, BINARY, bytes, 64);
      expect(client, BINARY, bytes);
    }
  }

  private static void fragments(RawClient client, int first, byte[] bytes, int piece)
      throws IOException {
    for (int i = 0; i < bytes.length; i += piece) {
      int end = Math.min(bytes.length, i + piece);
      client.sendFrame(
          (i == 0 ? first : 0) | (end == bytes.length ? FIN : 0),
          Arrays.copyOfRange(bytes, i, end));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "permessage-deflate, true",
    "permessage-deflate; client_max_window_bits, true",
    "permessage-deflate; client_max_window_bits=10, true",
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover, true",
    "permessage-deflate; server_max_window_bits=15, true",
    "permessage-deflate; server_max_window_bits=9, false",
    "'permessage-deflate; server_max_window_bits=9, permessage-deflate', true",
    "permessage-deflate; client_max_window_bits=7, false",
    "permessage-deflate; client_max_window_bits=16, false",
    "permessage-deflate; server_max_window_bits, false",
    "permessage-deflate; unknown, false",
    "permessage-deflate; unknown=1, false",
    "x-webkit-deflate-frame, false",
    "', ,;', false"
  })
  void extensionsAreNegotiatedOrDeclined(String offer, boolean accepted) throws Exception {
    try (RawClient client = echo("Sec-WebSocket-Extensions: " + offer + "\r\n")) {
      assertThat(client.httpResponse).startsWith("HTTP/1.1 101 ");
      assertThat(client.httpResponse.contains("Sec-WebSocket-Extensions: permessage-deflate"))
          .isEqualTo(accepted);
      byte[] text = "compressed or not".getBytes(StandardCharsets.UTF_8);
      if (accepted) {
        client.sendFrame(FIN | COMPRESSED | TEXT, Deflating.deflate(text));
        expect(client, TEXT, text);
      } else {
        client.sendFrame(FIN | TEXT, text);
        expect(client, TEXT, text);
        client.sendFrame(FIN | COMPRESSED | TEXT, Deflating.deflate(text));
        assertThat(Ending.of(client).code()).isEqualTo(1002);
      }
    }
  }

  @Test
  void noSubProtocolIsNeededAndNothingIsSaidUnasked() throws Exception {
    try (RawClient client = echo("")) {
      assertThat(client.httpResponse).doesNotContain("Sec-WebSocket-Protocol");
      client.sendFrame(0x89, new byte[] {1, 2, 3});
      // The first thing that comes is the answer to the ping.
      expect(client, 10, new byte[] {1, 2, 3});
      client.sendFrame(0x8A, new byte[] {9});
      client.sendFrame(FIN | TEXT, new byte[] {'a'});
      expect(client, TEXT, new byte[] {'a'});
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cebae1bdb9cf83cebcceb5",
        "00",
        "7f",
        "c280",
        "dfbf",
        "e0a080",
        "ed9fbf",
        "ee8080",
        "efbfbf",
        "f0908080",
        "f48fbfbf",
        "efbfbe",
        "f09fbfbe"
      })
  void validUtf8ComesBackHoweverItIsCut(String hex) throws Exception {
    byte[] text = HexFormat.of().parseHex(hex);
    try (RawClient client = echo("");
        RawClient deflated = echo(DEFLATE)) {
      client.sendFrame(FIN | TEXT, text);
      expect(client, TEXT, text);
      fragments(client, TEXT, text, 1);
      expect(client, TEXT, text);
      deflated.sendFrame(FIN | COMPRESSED | TEXT, Deflating.deflate(text));
      expect(deflated, TEXT, text);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "80",
        "bf",
        "c0af",
        "c1bf",
        "e080af",
        "eda080",
        "edbfbf",
        "f08080af",
        "f4908080",
        "f5808080",
        "fe",
        "ff",
        "c2",
        "e282",
        "f09f98",
        "61c2",
        "cebae1bdb9cf83cebcceb5eda080656469746564",
        "f888808080",
        "c328"
      })
  void brokenUtf8IsMalformedHoweverItIsCut(String hex) throws Exception {
    byte[] text = HexFormat.of().parseHex(hex);
    try (RawClient whole = echo("");
        RawClient cut = echo("");
        RawClient deflated = echo(DEFLATE)) {
      whole.sendFrame(FIN | TEXT, text);
      assertThat(Ending.of(whole).code()).isEqualTo(1007);
      // The bus may end before the last fragment: an error that is known does not wait.
      for (int i = 0; i < text.length; i++) {
        byte[] one = {text[i]};
        cut.raw(RawClient.frame((i == 0 ? TEXT : 0) | (i == text.length - 1 ? FIN : 0), one));
      }
      assertThat(Ending.of(cut).code()).isEqualTo(1007);
      deflated.sendFrame(FIN | COMPRESSED | TEXT, Deflating.deflate(text));
      assertThat(Ending.of(deflated).code()).isEqualTo(1007);
    }
  }

  @Test
  void brokenUtf8IsRefusedBeforeTheMessageEnds() throws Exception {
    try (RawClient client = echo("")) {
      client.sendFrame(TEXT, HexFormat.of().parseHex("cebae1bdb9cf83cebcceb5f4908080"));
      Ending ending = Ending.of(client);
      assertThat(ending.code()).isEqualTo(1007);
      assertThat(ending.closeFrames()).isEqualTo(1);
    }
  }

  @Test
  void manyMessagesInOneWriteComeBackInOrder() throws Exception {
    try (RawClient client = echo("")) {
      byte[] all = new byte[0];
      for (int i = 0; i < 1000; i++) {
        all = TestFrames.join(all, RawClient.frame(FIN | BINARY, TestFrames.zigzag(i)));
      }
      client.raw(all);
      for (int i = 0; i < 1000; i++) {
        expect(client, BINARY, TestFrames.zigzag(i));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 100_000})
  void aClientThatDoesNotReadTheEchoIsClosed(int size) throws Exception {
    double before = bus.closed("slow_consumer");
    try (RawClient client = RawClient.slow(bus.uri(), 4096)) {
      client.upgrade("/echo", "");
      byte[] frame = RawClient.frame(FIN | BINARY, random(size));
      byte[] many = new byte[0];
      while (many.length < 100_000) {
        many = TestFrames.join(many, frame);
      }
      byte[] flood = many;
      Thread flooding =
          new Thread(
              () -> {
                try {
                  while (true) {
                    client.raw(flood);
                  }
                } catch (IOException e) {
                  // Closed, as it has to be.
                  return;
                }
              },
              "flood");
      flooding.start();
      WatchedBus.await(
          () -> bus.closed("slow_consumer") == before + 1, () -> "the flood was not closed");
      flooding.join(RawClient.DEADLINE_MILLIS);
      assertThat(flooding.isAlive()).isFalse();
    }
  }
}
