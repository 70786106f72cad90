package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class LinkCodecTest {
  private static final UnpooledByteBufAllocator ALLOCATOR = UnpooledByteBufAllocator.DEFAULT;

  @Property
  void theSizeOfANumberIsWhatItTakes(@ForAll long value) {
    ByteBuf out = Unpooled.buffer();
    LinkCodec.writeLong(out, value);
    assertThat(LinkCodec.sizeOf(value)).isEqualTo(out.readableBytes());
    assertThat(LinkCodec.readLong(out)).isEqualTo(value);
  }

  @Test
  void theSmallestAndTheLargestNumbers() {
    theSizeOfANumberIsWhatItTakes(0);
    theSizeOfANumberIsWhatItTakes(-1);
    theSizeOfANumberIsWhatItTakes(Long.MAX_VALUE);
    theSizeOfANumberIsWhatItTakes(Long.MIN_VALUE);
  }

  @Property
  void aRequestInOneBufferIsTheSameFrame(
      @ForAll long id, @ForAll int service, @ForAll @Size(max = 300) byte[] bytes) {
    ByteBuf head = Unpooled.buffer();
    LinkCodec.writeLong(head, id);
    LinkCodec.writeLong(head, service);
    ByteBuf expected =
        LinkCodec.frame(
            LinkFrame.REQUEST, Unpooled.wrappedBuffer(head, Unpooled.wrappedBuffer(bytes)));
    assertThat(taken(LinkCodec.request(ALLOCATOR, id, service, bytes))).isEqualTo(taken(expected));
  }

  @Property
  void aResponseInOneBufferIsTheSameFrame(@ForAll long id, @ForAll @Size(max = 300) byte[] bytes) {
    ByteBuf head = Unpooled.buffer();
    LinkCodec.writeLong(head, id);
    ByteBuf expected =
        LinkCodec.frame(
            LinkFrame.RESPONSE, Unpooled.wrappedBuffer(head, Unpooled.wrappedBuffer(bytes)));
    assertThat(taken(LinkCodec.response(ALLOCATOR, id, bytes))).isEqualTo(taken(expected));
  }

  private static byte[] taken(ByteBuf frame) {
    try {
      return ByteBufUtil.getBytes(frame);
    } finally {
      frame.release();
    }
  }
}
