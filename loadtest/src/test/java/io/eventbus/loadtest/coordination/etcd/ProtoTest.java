package io.eventbus.loadtest.coordination.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProtoTest {
  @Test
  void writesAsTheSpecificationSays() {
    // From the specification of protocol buffers: field 1 is 150, field 2 is "testing".
    assertThat(new ProtoWriter().number(1, 150).text(2, "testing").toByteArray())
        .containsExactly(8, 0x96, 1, 0x12, 7, 't', 'e', 's', 't', 'i', 'n', 'g');
  }

  @Test
  void readsWhatItWrites() {
    ProtoWriter inner = new ProtoWriter().number(7, 1L << 40);
    ProtoMessage read =
        ProtoMessage.parse(
            new ProtoWriter().number(1, -1).text(2, "x").message(3, inner).toByteArray());
    assertThat(read.number(1)).isEqualTo(-1);
    assertThat(read.text(2)).isEqualTo("x");
    assertThat(read.message(3).number(7)).isEqualTo(1L << 40);
    assertThat(read.number(9)).isZero();
    assertThat(read.has(2)).isTrue();
    assertThat(read.has(4)).isFalse();
  }
}
