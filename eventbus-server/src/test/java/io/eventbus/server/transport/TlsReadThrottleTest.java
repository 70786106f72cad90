package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The test's stand-in decrypts, so that it decides the cost of a record. */
class TlsReadThrottleTest {
  private static final int RECORD_BYTES = 27;

  private final class Decryptor extends ChannelInboundHandlerAdapter {
    final ByteBuf got = Unpooled.buffer();
    final List<Integer> sizes = new ArrayList<>();

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf in = (ByteBuf) message;
      sizes.add(in.readableBytes());
      wire.workNanos += nanosEach * in.readableBytes() / RECORD_BYTES;
      got.writeBytes(in);
      in.release();
    }
  }

  private final Wire wire = new Wire();
  private final TlsReadThrottle turns = new TlsReadThrottle(wire.loop, () -> {});
  private final AtomicInteger refused = new AtomicInteger();
  private final List<Throwable> failures = new ArrayList<>();
  private final Decryptor decryptor = new Decryptor();
  private long nanosEach = TimeUnit.MICROSECONDS.toNanos(20);

  @BeforeEach
  void connect() {
    wire.insert(turns.observer());
    wire.insert(decryptor);
    wire.insert(turns);
    wire.freezeTime();
    wire.event(SslHandshakeCompletionEvent.SUCCESS);
  }

  private static byte[] records(int count) {
    ByteBuf all = Unpooled.buffer();
    for (int i = 0; i < count; i++) {
      all.writeByte(23).writeShort(0x0303).writeShort(RECORD_BYTES - 5);
      all.writeInt(i).writeZero(RECORD_BYTES - 9);
    }
    byte[] bytes = new byte[all.readableBytes()];
    all.readBytes(bytes);
    return bytes;
  }

  @Test
  void aFloodGoesOnInLaterTurnsAndTheSocketIsNotRead() {
    byte[] flood = records(1_000);
    wire.read(flood);
    long share = TimeUnit.MICROSECONDS.toNanos(300);
    assertThat(wire.workNanos).isBetween(share, share + 8 * nanosEach);
    assertThat(wire.isReading()).isFalse();
    assertThat(wire.memory.used()).isEqualTo(flood.length - decryptor.got.readableBytes());
    List<Long> between = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      wire.loop.nextTurn("a", () -> between.add(wire.workNanos));
    }
    wire.pass(Duration.ofMillis(1));
    assertThat(between).as("others have turns, one after each of its own").hasSize(3);
    assertThat(between.get(0)).isBetween(2 * share, 2 * share + 16 * nanosEach);
    assertThat(decryptor.got).isEqualTo(Unpooled.wrappedBuffer(flood));
    assertThat(wire.isReading()).isTrue();
    assertThat(wire.memory.used()).isZero();
  }

  @Test
  void cheapInputContinuesAtOnce() {
    nanosEach = 0;
    byte[] all = records(100);
    wire.read(all);
    assertThat(decryptor.got).isEqualTo(Unpooled.wrappedBuffer(all));
    assertThat(wire.isReading()).isTrue();
  }

  @Test
  void workIsCharged() {
    long before = wire.loop.context().budget().total();
    wire.read(records(8));
    assertThat(wire.loop.context().budget().total() - before).isEqualTo(8 * nanosEach / 128);
  }

  @Test
  void theSocketIsReadAgainWhenNothingIsHeldAndNobodyPauses() {
    wire.read(records(100));
    turns.pauseReading();
    wire.pass(Duration.ofMillis(1));
    assertThat(decryptor.got.readableBytes()).isEqualTo(100 * RECORD_BYTES);
    assertThat(wire.isReading()).as("paused by the connection").isFalse();
    turns.resumeReading();
    assertThat(wire.isReading()).isTrue();
    wire.read(records(100));
    turns.resumeReading();
    assertThat(wire.isReading()).as("records wait").isFalse();
  }

  @Test
  void inputDuringAPauseStaysInOrder() {
    byte[] flood = records(100);
    wire.read(flood);
    wire.read(flood);
    wire.pass(Duration.ofMillis(1));
    assertThat(decryptor.got).isEqualTo(Unpooled.wrappedBuffer(flood, flood));
  }

  /** The handler for TLS does so when it has read records and no message. */
  @Test
  void aReadThatIsAskedForWaitsAsWell() {
    AtomicInteger reads = new AtomicInteger();
    wire.insert(
        new ChannelOutboundHandlerAdapter() {
          @Override
          public void read(ChannelHandlerContext ctx) {
            reads.incrementAndGet();
          }
        });
    wire.read(records(100));
    reads.set(0);
    wire.askForRead();
    assertThat(reads).hasValue(0);
    wire.pass(Duration.ofMillis(1));
    reads.set(0);
    wire.askForRead();
    assertThat(reads).hasValue(1);
  }

  /** During the computation of a handshake the handler for TLS keeps its input. */
  @Test
  void beforeTheEndOfAHandshakeLittleIsPassedOnAndItCounts() {
    Wire other = new Wire();
    TlsReadThrottle handshaking = new TlsReadThrottle(other.loop, refused::incrementAndGet);
    other.insert(handshaking.observer());
    other.insert(handshaking);
    other.read(records(100));
    assertThat(other.memory.shortPieces().used()).as("every client may begin").isZero();
    assertThat(other.memory.used()).isEqualTo(100 * RECORD_BYTES);
    other.read(records(900));
    assertThat(other.memory.shortPieces().used()).isEqualTo(1_000 * RECORD_BYTES - 4096);
    assertThat(other.memory.used()).isEqualTo(1_000 * RECORD_BYTES);
    assertThat(handshaking.handshakeBytes()).isEqualTo(1_000 * RECORD_BYTES);
    assertThat(other.isOpen()).isTrue();
    other.event(SslHandshakeCompletionEvent.SUCCESS);
    assertThat(other.memory.shortPieces().used()).isZero();
    assertThat(other.memory.used()).isZero();
    other.read(records(2_000));
    assertThat(other.isOpen()).as("afterwards there is no such bound").isTrue();
  }

  @Test
  void aHandshakeThatIsTooLongEnds() {
    Wire other = new Wire();
    TlsReadThrottle handshaking = new TlsReadThrottle(other.loop, refused::incrementAndGet);
    other.insert(handshaking.observer());
    other.insert(handshaking);
    other.read(records(1_300));
    assertThat(other.isOpen()).isFalse();
    assertThat(refused).hasValue(1);
    assertThat(other.memory.shortPieces().used()).isZero();
    assertThat(other.memory.used()).isZero();
  }

  /** The decrypting handler would keep it: its engine takes nothing any more. */
  @Test
  void afterTheClientsGoodbyeNothingIsPassedOn() {
    wire.read(records(1_000));
    int seen = decryptor.got.readableBytes();
    wire.event(SslCloseCompletionEvent.SUCCESS);
    assertThat(wire.isOpen()).isFalse();
    assertThat(wire.memory.used()).isZero();
    wire.pass(Duration.ofMillis(1));
    assertThat(decryptor.got.readableBytes()).isEqualTo(seen);
  }

  /** The turn is a task of the loop: its failure would be lost. */
  @Test
  void aFailureInALaterTurnEndsTheConnection() {
    Wire other = new Wire();
    TlsReadThrottle handshaking =
        new TlsReadThrottle(
            other.loop,
            () -> {
              throw new IllegalStateException("on purpose");
            });
    other.insert(handshaking.observer());
    other.insert(
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelRead(ChannelHandlerContext ctx, Object message) {
            other.workNanos += nanosEach;
            ((ByteBuf) message).release();
          }

          @Override
          public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
          }
        });
    other.insert(handshaking);
    other.freezeTime();
    other.read(records(1_300));
    assertThat(other.isOpen()).isTrue();
    other.pass(Duration.ofMillis(1));
    assertThat(other.isOpen()).isFalse();
    assertThat(failures).singleElement().isInstanceOf(IllegalStateException.class);
    assertThat(other.memory.used()).isZero();
  }

  @Test
  void heldMemoryEndsWithTheConnection() {
    wire.read(records(1_000));
    wire.hangUp();
    assertThat(wire.memory.used()).isZero();
    int seen = decryptor.got.readableBytes();
    wire.pass(Duration.ofMillis(1));
    assertThat(decryptor.got.readableBytes()).isEqualTo(seen);
  }
}
