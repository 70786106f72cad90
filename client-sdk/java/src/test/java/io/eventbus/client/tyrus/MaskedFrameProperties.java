package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class MaskedFrameProperties {
  @Property(tries = 300)
  void theReceiverGetsTheMessage(
      @ForAll @IntRange(max = 70_000) int length,
      @ForAll @IntRange(max = 9) int offset,
      @ForAll int key,
      @ForAll boolean direct) {
    byte[] array = new byte[offset + length + 3];
    new java.util.Random(length).nextBytes(array);
    ByteBuffer message = ByteBuffer.wrap(array, offset, length);
    int max = MaskedFrame.size(length);
    ByteBuffer frame = direct ? ByteBuffer.allocateDirect(max) : ByteBuffer.allocate(max);
    MaskedFrame.write(frame, message, key);
    frame.flip();
    assertThat(message.remaining()).isEqualTo(length);
    assertThat(frame.get() & 0xFF).isEqualTo(0x82);
    int second = frame.get() & 0xFF;
    assertThat(second & 0x80).as("masked").isEqualTo(0x80);
    int shortLength = second & 0x7F;
    assertThat(shortLength).isEqualTo(length < 126 ? length : length < 65_536 ? 126 : 127);
    if (shortLength == 126) {
      assertThat(frame.getShort() & 0xFFFF).isEqualTo(length);
    } else if (shortLength == 127) {
      assertThat(frame.getLong()).isEqualTo(length);
    }
    byte[] mask = new byte[4];
    frame.get(mask);
    byte[] payload = new byte[frame.remaining()];
    frame.get(payload);
    for (int i = 0; i < payload.length; i++) {
      payload[i] ^= mask[i % 4];
    }
    assertThat(payload).isEqualTo(Arrays.copyOfRange(array, offset, offset + length));
  }
}
