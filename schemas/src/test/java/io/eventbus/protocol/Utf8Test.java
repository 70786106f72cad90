package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Utf8Test {
  @Test
  void agreesWithTheJdkOnSequencesOfThreeBytes() {
    int[] edges = {
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
      0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF
    };
    for (int lead = 0; lead <= 0xFF; lead++) {
      for (int second : edges) {
        for (int third : edges) {
          byte[] bytes = {(byte) lead, (byte) second, (byte) third};
          if (Utf8.isValid(ByteBuffer.wrap(bytes), 0, 3) != jdk(bytes)) {
            throw new AssertionError("differs from the JDK: " + HexFormat.of().formatHex(bytes));
          }
        }
      }
    }
  }

  @Test
  void agreesWithTheJdkAroundSequencesOfFourBytes() {
    for (int lead = 0xEC; lead <= 0xFF; lead++) {
      for (int second = 0x70; second <= 0xFF; second++) {
        for (int third : new int[] {0x7F, 0x80, 0xBF, 0xC0}) {
          for (int fourth : new int[] {0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xFF}) {
            byte[] bytes = {(byte) lead, (byte) second, (byte) third, (byte) fourth};
            assertThat(Utf8.isValid(ByteBuffer.wrap(bytes), 0, 4))
                .as(HexFormat.of().formatHex(bytes))
                .isEqualTo(jdk(bytes));
          }
        }
      }
    }
  }

  @Test
  void takesEveryCodePointAndRefusesItWhenCutShort() {
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        continue;
      }
      byte[] bytes = Character.toString(c).getBytes(StandardCharsets.UTF_8);
      ByteBuffer buf = ByteBuffer.wrap(bytes);
      if (!Utf8.isValid(buf, 0, bytes.length)
          || (bytes.length > 1 && Utf8.isValid(buf, 0, bytes.length - 1))) {
        throw new AssertionError("U+" + Integer.toHexString(c));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6, 7, 8, 9, 15, 16, 17})
  void findsABadByteAtAnyDistance(int before) {
    byte[] bytes = ("a".repeat(before) + "?" + "b".repeat(17)).getBytes(StandardCharsets.UTF_8);
    assertThat(Utf8.isValid(ByteBuffer.wrap(bytes), 0, bytes.length)).isTrue();
    bytes[before] = (byte) 0x80;
    assertThat(Utf8.isValid(ByteBuffer.wrap(bytes), 0, bytes.length)).isFalse();
    assertThat(Utf8.isValid(ByteBuffer.wrap(bytes), 0, before)).isTrue();
    assertThat(Utf8.isValid(ByteBuffer.wrap(bytes), before + 1, bytes.length)).isTrue();
  }

  @Test
  void decodesARange() {
    ByteBuffer buf = ByteBuffer.allocateDirect(16).put("..täg..".getBytes(StandardCharsets.UTF_8));
    assertThat(Utf8.decode(buf, 2, 6)).isEqualTo("täg");
  }

  private static boolean jdk(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
