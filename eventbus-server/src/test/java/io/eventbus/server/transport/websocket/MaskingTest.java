package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class MaskingTest {
  @Property
  void unmasksExactlyTheRangeAtAnyAlignment(
      @ForAll @Size(max = 60) byte[] payload, @ForAll int mask, @ForAll @IntRange(max = 9) int at) {
    ByteBuf buf = Unpooled.buffer();
    buf.writeBytes(new byte[at]);
    for (int i = 0; i < payload.length; i++) {
      buf.writeByte(payload[i] ^ (mask >>> (24 - 8 * (i % 4))));
    }
    buf.writeBytes(new byte[9]);
    Masking.unmask(buf, at, payload.length, mask);
    byte[] found = new byte[payload.length];
    buf.getBytes(at, found);
    assertThat(found).isEqualTo(payload);
    for (int i = 0; i < at; i++) {
      assertThat(buf.getByte(i)).isZero();
    }
    for (int i = 0; i < 9; i++) {
      assertThat(buf.getByte(at + payload.length + i)).isZero();
    }
  }
}
