package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bytes that break RFC 6455 or a size: the right close code, one Close frame, and the end of the
 * stream, for any cut of the bytes.
 */
class HostileFramingIT extends HostileTests {
  private static final byte[] NOTHING = {};
  private static final byte[] SOME = {1, 2, 3, 4, 5};

  @Override
  String[] settings() {
    return new String[] {"timeouts.upgrade", "1m", "timeouts.hello", "1m", "timeouts.close", "1s"};
  }

  private static byte[] unhex(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static byte[] close(int code, byte[] reason) {
    return RawClient.frame(
        0x88, TestFrames.join(new byte[] {(byte) (code >> 8), (byte) code}, reason));
  }

  private static Arguments bytes(String name, int code, byte[] bytes) {
    return Arguments.of(Named.of(name, bytes), code);
  }

  static Stream<Arguments> violations() {
    Stream.Builder<Arguments> all = Stream.builder();
    all.add(bytes("text", 1003, RawClient.frame(0x81, SOME)));
    all.add(bytes("empty text", 1003, RawClient.frame(0x81, NOTHING)));
    all.add(bytes("start of fragmented text", 1003, RawClient.frame(0x01, SOME)));
    for (int bits : new int[] {0x40, 0x20, 0x10, 0x70}) {
      all.add(bytes("reserved bits " + bits, 1002, RawClient.frame(0x82 | bits, SOME)));
      all.add(bytes("reserved bits in a ping " + bits, 1002, RawClient.frame(0x89 | bits, SOME)));
    }
    for (int opcode : new int[] {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
      all.add(bytes("opcode " + opcode, 1002, RawClient.frame(0x80 | opcode, NOTHING)));
    }
    all.add(bytes("no mask", 1002, unhex("82 01 00")));
    all.add(bytes("a ping without mask", 1002, unhex("89 00")));
    all.add(bytes("a Close without mask", 1002, unhex("88 02 03e8")));
    all.add(bytes("continuation without start", 1002, RawClient.frame(0x80, SOME)));
    all.add(bytes("open continuation without start", 1002, RawClient.frame(0x00, SOME)));
    all.add(
        bytes(
            "a message inside another",
            1002,
            TestFrames.join(RawClient.frame(0x02, SOME), RawClient.frame(0x82, SOME))));
    all.add(
        bytes(
            "a start inside a message",
            1002,
            TestFrames.join(RawClient.frame(0x02, SOME), RawClient.frame(0x02, SOME))));
    all.add(
        bytes(
            "reserved bit in a continuation",
            1002,
            TestFrames.join(RawClient.frame(0x02, SOME), RawClient.frame(0xC0, SOME))));
    all.add(bytes("long ping", 1002, RawClient.frame(0x89, new byte[126])));
    all.add(bytes("long pong", 1002, RawClient.frame(0x8A, new byte[126])));
    all.add(bytes("long Close", 1002, RawClient.frame(0x88, new byte[126])));
    all.add(bytes("ping with 64-bit length", 1002, unhex("89 ff 0000000000000001 00000000 00")));
    all.add(bytes("fragmented ping", 1002, RawClient.frame(0x09, SOME)));
    all.add(bytes("fragmented Close", 1002, RawClient.frame(0x08, NOTHING)));
    all.add(bytes("5 in 16 bits", 1002, unhex("82 fe 0005 00000000 0102030405")));
    all.add(
        bytes(
            "125 in 16 bits", 1002, TestFrames.join(unhex("82 fe 007d 00000000"), new byte[125])));
    all.add(bytes("5 in 64 bits", 1002, unhex("82 ff 0000000000000005 00000000 0102030405")));
    all.add(bytes("65535 in 64 bits", 1002, unhex("82 ff 000000000000ffff 00000000")));
    all.add(bytes("4 GiB", 1009, RawClient.frame(0x82, SOME, 1L << 32)));
    all.add(bytes("4 GiB and 5 bytes", 1009, RawClient.frame(0x82, SOME, (1L << 32) + 5)));
    all.add(bytes("2 GiB", 1009, RawClient.frame(0x82, SOME, 1L << 31)));
    all.add(bytes("largest length", 1009, RawClient.frame(0x82, SOME, Long.MAX_VALUE)));
    all.add(bytes("negative length", 1002, RawClient.frame(0x82, SOME, -1)));
    all.add(bytes("most negative length", 1002, RawClient.frame(0x82, SOME, Long.MIN_VALUE)));
    all.add(
        bytes(
            "fragments that wrap around together",
            1009,
            TestFrames.join(
                RawClient.frame(0x02, SOME), RawClient.frame(0x00, SOME, Long.MAX_VALUE))));
    all.add(bytes("Close with a byte", 1002, RawClient.frame(0x88, new byte[] {3})));
    for (int code :
        new int[] {0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535}) {
      all.add(bytes("Close with " + code, 1002, close(code, NOTHING)));
    }
    all.add(bytes("Close with broken UTF-8", 1007, close(1000, unhex("ff"))));
    all.add(bytes("Close with cut UTF-8", 1007, close(1000, unhex("61e282"))));
    all.add(bytes("Close with a surrogate", 1007, close(1000, unhex("eda080"))));
    return all.build();
  }

  @ParameterizedTest
  @MethodSource("violations")
  void aViolationIsClosedWithItsCode(byte[] bytes, int code) throws Exception {
    for (boolean welcomed : new boolean[] {true, false}) {
      for (int piece : new int[] {bytes.length, 1}) {
        try (RawClient client =
            welcomed ? RawClient.connected(bus.uri()) : RawClient.upgraded(bus.uri())) {
          send(client, bytes, piece);
          Ending ending = Ending.of(client);
          assertThat(ending.code()).isEqualTo(code);
          assertThat(ending.reason()).isNotBlank();
          assertThat(ending.closeFrames()).isEqualTo(1);
          assertThat(ending.clean()).isTrue();
          assertThat(ending.problems()).isEmpty();
        }
      }
    }
  }

  private static void send(RawClient client, byte[] bytes, int piece) throws IOException {
    for (int i = 0; i < bytes.length; i += piece) {
      client.raw(Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + piece)));
    }
  }

  @Test
  void aCloseIsAnsweredWithTheSameCode() throws Exception {
    for (int code : new int[] {1000, 1001, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999}) {
      try (RawClient client = RawClient.connected(bus.uri())) {
        client.raw(close(code, "good bye, Grüße".getBytes(StandardCharsets.UTF_8)));
        Ending ending = Ending.of(client, false);
        assertThat(ending.code()).isEqualTo(code);
        assertThat(ending.closeFrames()).isEqualTo(1);
        assertThat(ending.clean()).isTrue();
      }
    }
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.sendFrame(0x88, NOTHING);
      Ending ending = Ending.of(client, false);
      assertThat(ending.code()).isEqualTo(1005);
      assertThat(ending.closeFrames()).isEqualTo(1);
    }
  }

  @Test
  void framesAfterACloseAreNotLookedAt() throws Exception {
    try (RawClient watcher = RawClient.connected(bus.uri());
        RawClient client = RawClient.connected(bus.uri())) {
      watcher.subscribe(1, "after.close");
      client.raw(
          TestFrames.join(
              RawClient.frame(0x82, RawClient.publish("after.close", 1, true, "before")),
              close(1000, NOTHING),
              RawClient.frame(0x82, RawClient.publish("after.close", 2, true, "after")),
              RawClient.frame(0x81, SOME),
              close(1001, NOTHING),
              unhex("ffffffff")));
      Ending ending = Ending.of(client, false);
      assertThat(ending.code()).isEqualTo(1000);
      assertThat(ending.closeFrames()).isEqualTo(1);
      assertThat(watcher.expectDeliver().payloads()).containsExactly("before");
      watcher.send(TestFrames.barrier(1));
      watcher.expect(TypeCode.BARRIER);
    }
  }

  @Test
  void inputAfterAViolationIsIgnoredUntilTheDeadline() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      byte[] more =
          TestFrames.join(
              RawClient.frame(0x81, SOME), close(1002, NOTHING), RawClient.frame(0x89, SOME));
      int sent = 0;
      try {
        while (sent < 100_000) {
          client.raw(more);
          sent++;
          LockSupport.parkNanos(1_000_000);
        }
      } catch (SocketException e) {
        assertThat(sent).isPositive();
      }
      assertThat(sent).isLessThan(100_000);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000})
  void fragmentsWithoutEndAreTooBig(int size) throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      byte[] fragment = RawClient.frame(0x00, new byte[size]);
      byte[] many = new byte[fragment.length * 64];
      for (int i = 0; i < 64; i++) {
        System.arraycopy(fragment, 0, many, i * fragment.length, fragment.length);
      }
      client.sendFrame(0x02, NOTHING);
      Thread reader = new Thread(() -> flood(client, many), "flood");
      reader.start();
      Ending ending = Ending.of(client, false);
      assertThat(ending.code()).isEqualTo(1009);
      assertThat(ending.closeFrames()).isEqualTo(1);
      client.socket().close();
      reader.join(RawClient.DEADLINE_MILLIS);
    }
  }

  private static void flood(RawClient client, byte[] bytes) {
    try {
      for (int i = 0; i < 100_000; i++) {
        client.raw(bytes);
      }
    } catch (IOException e) {
      // The bus has ended it.
      return;
    }
  }

  @Test
  void aLegalMessageInManyFragmentsWithPingsBetweenIsUnderstood() throws Exception {
    try (RawClient client = RawClient.connected(bus.uri())) {
      byte[] message = RawClient.publish("frag", 1, true, "payload");
      for (int cut = 0; cut <= message.length; cut++) {
        client.raw(
            TestFrames.join(
                RawClient.frame(0x02, Arrays.copyOf(message, cut)),
                RawClient.frame(0x89, SOME),
                RawClient.frame(0x00, NOTHING),
                RawClient.frame(0x8A, SOME),
                RawClient.frame(0x80, Arrays.copyOfRange(message, cut, message.length))));
        client.expectConfirm();
      }
      assertThat(List.of(client.closeCode)).containsExactly(-1);
    }
  }

  @Test
  void messagesOverTheLimitAreTooBig() throws Exception {
    try (RawClient early = RawClient.upgraded(bus.uri());
        RawClient late = RawClient.connected(bus.uri());
        RawClient exact = RawClient.connected(bus.uri())) {
      early.raw(RawClient.frame(0x82, NOTHING, 64 * 1024 + 1));
      assertThat(Ending.of(early).code()).isEqualTo(1009);
      late.raw(RawClient.frame(0x82, NOTHING, 4 * 1024 * 1024 + 1));
      assertThat(Ending.of(late).code()).isEqualTo(1009);
      // As large as allowed: an unknown frame that fills the message.
      byte[] max = new byte[4 * 1024 * 1024];
      byte[] head = TestFrames.join(TestFrames.zigzag(99), TestFrames.zigzag(max.length - 6));
      System.arraycopy(head, 0, max, 0, head.length);
      assertThat(head).hasSize(6);
      exact.send(max);
      assertThat(exact.expectProblem().getTypeCode()).isEqualTo(99);
    }
  }
}
