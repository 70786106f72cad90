package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VarintTest {
  @Test
  void agreesWithTheLibraryAtEveryBoundary() throws IOException {
    for (long value : boundaries()) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      BinaryEncoder library = EncoderFactory.get().directBinaryEncoder(bytes, null);
      library.writeLong(value);
      ByteBuffer ours = ByteBuffer.allocate(Varint.size(value));

      Varint.write(ours, value);

      assertThat(ours.hasRemaining()).isFalse();
      assertThat(ours.array()).as("%d", value).isEqualTo(bytes.toByteArray());
      BodyReader in = new BodyReader().wrap(ours, 0, ours.capacity());
      assertThat(in.readLong("x")).isEqualTo(value);
      assertThat(in.atEnd()).isTrue();
    }
  }

  @Test
  void readsAnIntegerBesideOtherBytesInAnyOrderOfTheBuffer() {
    for (long value : boundaries()) {
      for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(1 + Varint.size(value) + Long.BYTES);
        bytes.order(order).put((byte) -1);
        Varint.write(bytes, value);
        int end = bytes.position();
        while (bytes.hasRemaining()) {
          bytes.put((byte) -1);
        }

        BodyReader in = new BodyReader().wrap(bytes, 1, bytes.capacity());
        assertThat(in.readLong("x")).as("%s", order).isEqualTo(value);
        assertThat(in.position()).isEqualTo(end);
      }
    }
  }

  private static List<Long> boundaries() {
    List<Long> values = new ArrayList<>(List.of(0L, Long.MIN_VALUE, Long.MAX_VALUE));
    for (int bit = 0; bit < 63; bit++) {
      for (long around = -1; around <= 1; around++) {
        values.add((1L << bit) + around);
        values.add(-(1L << bit) + around);
      }
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "80", "ffffffffffffffffff"})
  void refusesAnIntegerThatEndsTooSoon(String hex) {
    assertThatThrownBy(() -> reader(hex).readLong("x"))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageStartingWith("x: the end of the data inside an integer");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ffffffffffffffffff02", "8080808080808080808000", "ffffffffffffffffffff"})
  void refusesMoreThan64Bits(String hex) {
    assertThatThrownBy(() -> reader(hex).readLong("x"))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageStartingWith("x: an integer of more than 64 bits");
  }

  @Test
  void takesAPaddedLongAndAnIntOfFiveBytes() {
    assertThat(reader("82808080808080808000").readLong("x")).isEqualTo(1);
    assertThat(reader("8280808000").readInt("x")).isEqualTo(1);
    assertThat(reader("feffffff0f").readInt("x")).isEqualTo(Integer.MAX_VALUE);
    assertThat(reader("ffffffff0f").readInt("x")).isEqualTo(Integer.MIN_VALUE);
  }

  @ParameterizedTest
  // A padded one, and the first above and below the range.
  @ValueSource(strings = {"828080808000", "8080808010", "8180808010"})
  void refusesAnIntThatTheLibraryWouldNotRead(String hex) {
    assertThatThrownBy(() -> reader(hex).readInt("x"))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageContaining("an integer of 32 bits in at most 5 bytes");
  }

  private static BodyReader reader(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    return new BodyReader().wrap(ByteBuffer.wrap(bytes), 0, bytes.length);
  }
}
