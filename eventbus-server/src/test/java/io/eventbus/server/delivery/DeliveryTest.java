package io.eventbus.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeliveryTest {
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final BusMemory memory = new BusMemory(1 << 30);

  private Delivery delivery(int bytes) {
    byte[] frame = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      frame[i] = (byte) i;
    }
    return Delivery.of(allocator, memory, DeliveryKind.CONTROL, frame, 77);
  }

  private long heldByAllocator() {
    return allocator.metric().usedDirectMemory();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, Delivery.HEADROOM})
  void theHeaderIsWrittenInFrontOfTheFrame(int headBytes) {
    Delivery d = delivery(300);
    ByteBuf slice = d.slice(headBytes);
    assertThat(slice.readableBytes()).isEqualTo(headBytes + 300);
    slice.setBytes(0, new byte[headBytes]);
    for (int i = 0; i < 300; i++) {
      assertThat(slice.getByte(headBytes + i)).isEqualTo((byte) i);
    }
    slice.release();
    assertThatThrownBy(() -> d.slice(Delivery.HEADROOM + 1))
        .hasMessage("11 bytes (expected: <= 10)");
    d.release();
    assertThat(heldByAllocator()).isZero();
  }

  @Test
  void isWrittenInPlaceAndReadByAll() {
    Delivery d = Delivery.allocate(allocator, memory, DeliveryKind.EVENTS, 3, 2, 77);
    assertThat(d.writable().remaining()).isEqualTo(3);
    d.writable().put(new byte[] {7, 8, 9});
    d.finish();
    assertThat(d.events()).isEqualTo(2);
    assertThat(d.receivedNanos()).isEqualTo(77);
    assertThat(d.frameBytes()).isEqualTo(3);
    ByteBuffer frame = d.frame();
    assertThat(frame).isEqualTo(ByteBuffer.wrap(new byte[] {7, 8, 9}));
    ByteBuf copy = Unpooled.buffer();
    d.copyFrame(copy);
    d.copyFrame(copy);
    assertThat(copy.readableBytes()).isEqualTo(6);
    assertThat(frame.remaining()).as("a view of its own").isEqualTo(3);
    d.release();
  }

  @Test
  void theLastReleaseGivesBackExactlyWhatWasReserved() {
    Delivery d = delivery(500);
    assertThat(memory.used()).isEqualTo(d.size()).isGreaterThan(500);
    d.retain();
    d.retain();
    d.release();
    d.release();
    assertThat(memory.used()).isEqualTo(d.size());
    assertThat(heldByAllocator()).isPositive();
    d.release();
    assertThat(memory.used()).isZero();
    assertThat(heldByAllocator()).isZero();
  }

  @Test
  void aMessageThatIsBeingWrittenOutlivesTheDelivery() {
    Delivery d = delivery(10);
    ByteBuf message = d.slice(2);
    d.release();
    assertThat(message.getByte(2 + 9)).isEqualTo((byte) 9);
    assertThat(heldByAllocator()).isPositive();
    message.release();
    assertThat(heldByAllocator()).isZero();
  }

  @Test
  void anyUseAfterTheLastReleaseFails() {
    Delivery d = delivery(10);
    d.release();
    assertThatThrownBy(d::frame).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> d.slice(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(d::writable).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(d::finish).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> d.copyFrame(Unpooled.buffer()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(d::retain)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("references: 0 (expected: >= 1)");
  }

  @Test
  void anExtraReleaseFailsAndCountsNothingTwice() {
    Delivery d = delivery(10);
    d.release();
    assertThatThrownBy(d::release).isInstanceOf(IllegalStateException.class);
    assertThat(memory.used()).isZero();
  }
}
