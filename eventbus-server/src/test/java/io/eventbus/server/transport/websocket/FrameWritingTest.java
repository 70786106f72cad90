package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameWritingTest {
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);

  @ParameterizedTest
  @CsvSource({"0, 2", "1, 2", "125, 2", "126, 4", "65535, 4", "65536, 10", "100000, 10"})
  void aDeliveryIsOneBinaryMessageForEverySubscriber(int bytes, int headerBytes) {
    byte[] frame = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      frame[i] = (byte) i;
    }
    Delivery delivery =
        Delivery.of(allocator, new BusMemory(1 << 30), DeliveryKind.CONTROL, frame, 0);
    ByteBuf first = FrameWriting.message(delivery);
    ByteBuf message = FrameWriting.message(delivery);
    assertThat(message).isEqualTo(first);
    assertThat(message.readableBytes()).isEqualTo(headerBytes + bytes);
    assertThat(message.getUnsignedByte(0)).as("fin, binary").isEqualTo((short) 0x82);
    int length7 = message.getUnsignedByte(1);
    long length =
        length7 < 126 ? length7 : length7 == 126 ? message.getUnsignedShort(2) : message.getLong(2);
    assertThat(length7 & 0x80).as("never masked").isZero();
    assertThat(length).isEqualTo(bytes);
    for (int i = 0; i < bytes; i++) {
      assertThat(message.getByte(headerBytes + i)).isEqualTo((byte) i);
    }
    first.release();
    message.release();
    delivery.release();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }
}
