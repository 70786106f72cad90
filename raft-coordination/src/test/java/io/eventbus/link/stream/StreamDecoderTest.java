package io.eventbus.link.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StreamDecoderTest {
  private static final long BAD = 63;

  private final List<Long> taken = new ArrayList<>();
  private long pauseAt = -1;

  private final class Decoder extends StreamDecoder {
    @Nullable ChannelHandlerContext context;

    Decoder() {
      super(1_000);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      context = ctx;
    }

    @Override
    protected boolean onFrame(ByteBuffer in, int typeCode, int from, int to) {
      long number = in.get(from) >> 1;
      if (number == BAD) {
        throw new IllegalArgumentException("bad");
      }
      if (number == pauseAt) {
        return false;
      }
      taken.add(number);
      return true;
    }

    @Override
    protected void onReadEnd() {}
  }

  private static byte[] frame(long number) {
    return StreamFrames.encode(StreamFrames.ACK, number);
  }

  @Test
  void handlesFramesBeforeABadFrameOnce() {
    EmbeddedChannel channel = new EmbeddedChannel(new Decoder());
    assertThatThrownBy(
            () ->
                channel.writeInbound(
                    Unpooled.wrappedBuffer(frame(1), frame(2), frame(BAD), frame(3), frame(4))))
        .hasMessageContaining("bad");
    assertThat(taken).containsExactly(1L, 2L);
    // The end of a connection reads the remaining bytes.
    var unused = channel.close();
    assertThat(taken).as("and nothing behind it").containsExactly(1L, 2L);
  }

  @Test
  void nothingIsReadWhileItIsPaused() throws Exception {
    AtomicInteger reads = new AtomicInteger();
    Decoder decoder = new Decoder();
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new ChannelOutboundHandlerAdapter() {
              @Override
              public void read(ChannelHandlerContext ctx) {
                reads.incrementAndGet();
              }
            },
            decoder);
    pauseAt = 2;
    reads.set(0);
    channel.writeInbound(Unpooled.wrappedBuffer(frame(1), frame(2), frame(3)));
    assertThat(taken).containsExactly(1L);
    assertThat(reads).hasValue(0);
    pauseAt = -1;
    decoder.resume(Objects.requireNonNull(decoder.context));
    assertThat(taken).containsExactly(1L, 2L, 3L);
    assertThat(reads.get()).isPositive();
  }
}
