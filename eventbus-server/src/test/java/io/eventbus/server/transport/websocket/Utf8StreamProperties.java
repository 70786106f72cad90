package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Check in pieces against the JDK's decoder on the whole. */
class Utf8StreamProperties {
  @Provide
  Arbitrary<byte[]> almostUtf8() {
    // Whole characters of each length, their first bytes alone, and bytes around every bound.
    Arbitrary<byte[]> character =
        Arbitraries.of("a", "\u007f", "\u0080", "é", "\u07ff", "\u0800", "€", "\ud7ff", "\ue000")
            .map(s -> s.getBytes(StandardCharsets.UTF_8));
    Arbitrary<byte[]> wide =
        Arbitraries.of(0x10000, 0x1F600, 0x10FFFF)
            .map(c -> Character.toString(c).getBytes(StandardCharsets.UTF_8));
    Arbitrary<byte[]> single =
        Arbitraries.of(
                0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
                0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF)
            .map(b -> new byte[] {b.byteValue()});
    // First and last of what each first byte allows, and what is just beyond.
    Arbitrary<byte[]> bound =
        Arbitraries.of(
                0xC1BF,
                0xC280,
                0xE09FBF,
                0xE0A080,
                0xED9FBF,
                0xEDA080,
                0xEDBFBF,
                0xEE8080,
                0xF08FBFBF,
                0xF0908080,
                0xF48FBFBF,
                0xF4908080,
                0xF5808080,
                0xC27F,
                0xE0A07F)
            .map(
                n -> {
                  byte[] four = ByteBuffer.allocate(4).putInt(n).array();
                  int zeros = n > 0 && n <= 0xFFFF ? 2 : n > 0 && n <= 0xFFFFFF ? 1 : 0;
                  return Arrays.copyOfRange(four, zeros, 4);
                });
    return Arbitraries.oneOf(character, wide, single, bound, bound)
        .list()
        .ofMaxSize(8)
        .map(
            parts -> {
              ByteArrayOutputStream all = new ByteArrayOutputStream();
              parts.forEach(all::writeBytes);
              return all.toByteArray();
            });
  }

  @Provide
  Arbitrary<List<Integer>> cuts() {
    return Arbitraries.integers().between(0, 5).list().ofMaxSize(12);
  }

  @Property(tries = 5000)
  void agreesWithTheJdkHoweverItIsCut(
      @ForAll("almostUtf8") byte[] bytes, @ForAll("cuts") List<Integer> cuts) {
    boolean valid = isValid(bytes);
    Utf8Stream stream = new Utf8Stream();
    assertThat(check(stream, bytes, cuts)).isEqualTo(valid);
    if (valid) {
      assertThat(check(stream, new byte[] {'o', 'k'}, cuts)).as("ready for the next").isTrue();
    }
  }

  @Property(tries = 5000)
  void agreesWithTheJdkOnAnyBytes(@ForAll byte[] bytes, @ForAll("cuts") List<Integer> cuts) {
    assertThat(check(new Utf8Stream(), bytes, cuts)).isEqualTo(isValid(bytes));
  }

  private static boolean check(Utf8Stream stream, byte[] bytes, List<Integer> cuts) {
    ByteBuf buf = Unpooled.wrappedBuffer(bytes);
    int at = 0;
    for (int cut : cuts) {
      int n = Math.min(cut, bytes.length - at);
      if (!stream.accept(buf, at, n)) {
        return false;
      }
      at += n;
    }
    return stream.accept(buf, at, bytes.length - at) && stream.finish();
  }

  private static boolean isValid(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
