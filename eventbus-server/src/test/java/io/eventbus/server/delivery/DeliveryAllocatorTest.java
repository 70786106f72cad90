package io.eventbus.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small deliveries share a buffer, which only the allocator notices. */
@Timeout(180)
class DeliveryAllocatorTest {
  private static final byte[] HEAD = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10};

  private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(true);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final DeliveryAllocator deliveries = new DeliveryAllocator(buffers, memory);

  @AfterEach
  void everythingIsGivenBack() {
    deliveries.close();
    assertThat(memory.used()).isZero();
    assertThat(buffers.metric().usedDirectMemory()).isZero();
  }

  private Delivery make(int bytes, int fill) {
    byte[] frame = new byte[bytes];
    Arrays.fill(frame, (byte) fill);
    Delivery d = deliveries.allocate(DeliveryKind.EVENTS, bytes, 1, 77);
    d.append(ByteBuffer.wrap(frame));
    d.finish();
    return d;
  }

  private static void check(Delivery d, int bytes, int fill) {
    ByteBuffer frame = d.frame();
    assertThat(frame.remaining()).isEqualTo(bytes);
    while (frame.hasRemaining()) {
      assertThat(frame.get()).isEqualTo((byte) fill);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 125, 126, 1020, 1021, 5000, 70_000})
  void neighboursDoNotTouchEachOther(int bytes) {
    List<Delivery> made = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      made.add(make(bytes, i));
    }
    for (Delivery d : made) {
      ByteBuf message = d.slice(Delivery.HEADROOM);
      message.setBytes(0, HEAD);
      message.release();
    }
    for (int i = 0; i < 50; i++) {
      Delivery d = made.get(i);
      check(d, bytes, i);
      ByteBuf message = d.slice(Delivery.HEADROOM);
      assertThat(message.slice(0, Delivery.HEADROOM)).isEqualTo(Unpooled.wrappedBuffer(HEAD));
      assertThat(message.readableBytes()).isEqualTo(Delivery.HEADROOM + bytes);
      message.release();
      d.release();
    }
  }

  @Test
  void aSlabIsUsedAgainWhenNobodyNeedsIt() {
    make(500, 1).release();
    long one = buffers.metric().usedDirectMemory();
    for (int i = 0; i < 1000; i++) {
      make(500, i).release();
    }
    assertThat(buffers.metric().usedDirectMemory()).isEqualTo(one);
    assertThat(memory.used()).isZero();
  }

  @Test
  void anIdleLoopKeepsNothing() {
    Delivery d = make(500, 1);
    deliveries.trim();
    check(d, 500, 1);
    d.release();
    deliveries.trim();
    assertThat(buffers.metric().usedDirectMemory()).isZero();
    assertThat(memory.used()).isZero();
  }

  @Test
  void aMessageInASocketKeepsItsBytesThoughItsDeliveryIsGone() {
    Delivery d = make(500, 9);
    ByteBuf message = d.slice(0);
    d.release();
    for (int i = 0; i < 100; i++) {
      make(500, 1).release();
    }
    for (int i = 0; i < message.readableBytes(); i++) {
      assertThat(message.getByte(i)).isEqualTo((byte) 9);
    }
    message.release();
  }

  @Test
  void aSlabThatIsHeldCountsAsMemoryUntilItsLastDeliveryIsGone() {
    Delivery kept = make(500, 1);
    Deque<Delivery> others = new ArrayDeque<>();
    while (memory.used() == 0) {
      others.add(make(500, 2));
    }
    long counted = memory.used();
    assertThat(counted).isGreaterThan(DeliverySlab.BYTES);
    while (!others.isEmpty()) {
      others.removeFirst().release();
    }
    assertThat(memory.used()).isEqualTo(counted);
    check(kept, 500, 1);
    kept.release();
    assertThat(memory.used()).isZero();
  }

  @Test
  void aCopyKeepsNothingButItself() {
    Delivery d = make(500, 7);
    Delivery copy = d.copy(buffers, memory);
    assertThat(d.isInSlab()).isTrue();
    assertThat(copy.isInSlab()).isFalse();
    assertThat(copy.events()).isEqualTo(d.events());
    assertThat(copy.receivedNanos()).isEqualTo(d.receivedNanos());
    d.release();
    deliveries.close();
    check(copy, 500, 7);
    assertThat(memory.used()).isEqualTo(copy.size());
    copy.release();
  }

  @Test
  void aFrameMustFillItsRoomAndNotMore() {
    Delivery d = deliveries.allocate(DeliveryKind.EVENTS, 3, 1, 77);
    d.append(ByteBuffer.wrap(new byte[2]));
    assertThatThrownBy(d::finish)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("1 bytes of the frame are missing");
    assertThatThrownBy(() -> d.append(ByteBuffer.wrap(new byte[2])))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("2 bytes (expected: <= 1)");
    d.append(ByteBuffer.wrap(new byte[1]));
    d.finish();
    d.release();
  }

  @Test
  void anotherThreadGivesBackWhileThisOneFills() throws InterruptedException {
    BlockingQueue<Delivery> waiting = new ArrayBlockingQueue<>(64);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    int count = 200_000;
    Thread reader =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < count; i++) {
                  Delivery d = waiting.poll(60, TimeUnit.SECONDS);
                  ByteBuffer frame = d.frame();
                  if (frame.get(0) != (byte) i || frame.get(frame.limit() - 1) != (byte) i) {
                    throw new AssertionError("delivery " + i + " was overwritten");
                  }
                  d.release();
                }
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    reader.start();
    Random random = new Random(1);
    for (int i = 0; i < count; i++) {
      if (!waiting.offer(make(1 + random.nextInt(1200), i), 30, TimeUnit.SECONDS)) {
        break;
      }
    }
    reader.join(30_000);
    assertThat(failure.get()).isNull();
  }
}
