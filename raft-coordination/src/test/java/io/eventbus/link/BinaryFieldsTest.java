package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class BinaryFieldsTest {
  private static final byte[] SEVEN =
      BinaryFields.encode(
          out -> {
            out.writeInt(1);
            out.writeUTF("seven");
          });

  private static String decode(byte[] bytes) {
    return BinaryFields.decode(
        bytes,
        in -> {
          BinaryFields.count(in, "names", 1);
          String name = in.readUTF();
          if (!name.equals("seven")) {
            throw new IllegalArgumentException("name: " + name + " (expected: seven)");
          }
          return name;
        });
  }

  private static void assertRefused(byte[] bytes, String message) {
    assertThatThrownBy(() -> decode(bytes))
        .isInstanceOfSatisfying(
            LinkServiceException.class,
            e -> assertThat(e.code()).isEqualTo(LinkServiceException.MALFORMED))
        .hasMessage(message);
  }

  @Test
  void readsWrittenValuesAndIgnoresBytesBehind() {
    assertThat(decode(SEVEN)).isEqualTo("seven");
    assertThat(decode(Arrays.copyOf(SEVEN, SEVEN.length + 3))).isEqualTo("seven");
  }

  @Test
  void refusesMalformedMessagesInOneWay() {
    for (int length = 0; length < SEVEN.length; length++) {
      assertRefused(
          Arrays.copyOf(SEVEN, length), "the message of " + length + " bytes is cut short");
    }
    byte[] later = SEVEN.clone();
    later[0] = 2;
    assertRefused(later, "version: 2 (expected: 1)");
    byte[] many = SEVEN.clone();
    many[1] = -1;
    assertRefused(many, "names: -16777215 (expected: 0 to 1)");
    byte[] other = SEVEN.clone();
    other[7] = 'S';
    assertRefused(other, "name: Seven (expected: seven)");
  }
}
