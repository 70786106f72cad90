package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PacedWritesTest {
  private static final int PIECE = PacedWrites.PIECE;

  private final AtomicInteger asked = new AtomicInteger();
  private final PacedWrites paced = new PacedWrites(asked::incrementAndGet);
  private final EmbeddedChannel channel = new EmbeddedChannel(paced);

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private ByteBuf write(int size) {
    ByteBuf bytes = Unpooled.buffer(size);
    for (int i = 0; i < size; i++) {
      bytes.writeByte(i * 31 + (i >> 8));
    }
    ByteBuf expected = bytes.copy();
    var unused = channel.write(bytes, channel.voidPromise());
    return expected;
  }

  /** Returns the output since the last call. */
  private ByteBuf out() {
    ByteBuf all = Unpooled.buffer();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      all.writeBytes(next);
      next.release();
    }
    return all;
  }

  @Test
  void smallWritesAreImmediate() {
    ByteBuf a = write(PIECE);
    ByteBuf b = write(10);
    channel.flush();
    assertThat(out()).isEqualTo(Unpooled.wrappedBuffer(a, b));
    assertThat(paced.isWaiting()).isFalse();
    assertThat(asked).hasValue(0);
  }

  @Test
  void largeWritesGoInPiecesAndInOrder() {
    ByteBuf big = write(2 * PIECE + 100);
    ByteBuf behind = write(10);
    ByteBuf all = Unpooled.buffer();
    int flushes = 0;
    do {
      flushes++;
      channel.flush();
      ByteBuf piece = out();
      assertThat(piece.readableBytes()).isLessThanOrEqualTo(PIECE);
      all.writeBytes(piece);
      assertThat(paced.bytes()).isEqualTo(2L * PIECE + 110 - all.readableBytes());
    } while (paced.isWaiting());
    assertThat(flushes).isEqualTo(3);
    assertThat(asked).as("another turn is asked for after each but the last").hasValue(2);
    assertThat(all).isEqualTo(Unpooled.wrappedBuffer(big, behind));
  }

  @Test
  void aPromiseIsKeptWhenTheLastPieceHasGone() {
    ChannelPromise promise = channel.newPromise();
    var unused = channel.write(Unpooled.buffer(2 * PIECE).writeZero(2 * PIECE), promise);
    channel.flush();
    assertThat(promise.isDone()).isFalse();
    channel.flush();
    assertThat(promise.isSuccess()).isTrue();
    out();
  }

  @Test
  void anEmptyWriteWaitsForWhatIsBeforeIt() {
    write(2 * PIECE);
    ChannelPromise promise = channel.newPromise();
    var unused = channel.writeAndFlush(Unpooled.EMPTY_BUFFER, promise);
    assertThat(promise.isDone()).isFalse();
    channel.flush();
    channel.flush();
    assertThat(promise.isSuccess()).isTrue();
    out();
  }

  @Test
  void waitingInputIsReleasedAtTheEnd() {
    ByteBuf bytes = Unpooled.buffer(2 * PIECE).writeZero(2 * PIECE);
    ChannelPromise promise = channel.newPromise();
    var unused = channel.write(bytes, promise);
    channel.flush();
    out();
    channel.close().syncUninterruptibly();
    assertThat(bytes.refCnt()).isZero();
    assertThat(promise.isDone()).isTrue();
    assertThat(promise.isSuccess()).isFalse();
    assertThat(paced.bytes()).isZero();
  }
}
