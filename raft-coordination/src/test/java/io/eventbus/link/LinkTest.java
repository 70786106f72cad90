package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.base.RefusedMemory;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.timeout.IdleStateEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Link whose other side may accept nothing. */
class LinkTest {
  private static final int MAX_CALLS = 3;
  private static final LinkOptions OPTIONS =
      new LinkOptions(
          65_536,
          131_072,
          MAX_CALLS,
          10,
          10,
          Duration.ofSeconds(3),
          Duration.ofSeconds(1),
          Duration.ofSeconds(4),
          1);
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private final Slow channel = new Slow();
  private final Link link =
      new Link(
          channel,
          new LinkPeer("", "", "bus-b", 1, "raft"),
          OPTIONS,
          Map.of(1, (peer, request) -> CompletableFuture.completedFuture(new byte[50_000])));

  LinkTest() {
    channel.freezeTime();
    channel.pipeline().addLast(link.handler());
  }

  /** Channel that keeps what is written until the other side accepts it. */
  private static final class Slow extends EmbeddedChannel {
    private int wanted;
    private boolean partly;

    @Override
    protected void doWrite(ChannelOutboundBuffer out) {
      if (partly && out.current() != null) {
        partly = false;
        out.progress(1);
      }
      for (; wanted > 0 && out.current() != null; wanted--) {
        out.remove();
      }
    }

    void take() {
      wanted++;
      flush();
    }

    void takePart() {
      partly = true;
      flush();
    }
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private void says(int typeCode) {
    channel.writeInbound(new LinkFrame(typeCode, Unpooled.buffer()));
  }

  private void calls() {
    var body = Unpooled.buffer();
    LinkCodec.writeLong(body, 7);
    LinkCodec.writeLong(body, 1);
    channel.writeInbound(new LinkFrame(LinkFrame.REQUEST, body));
  }

  private boolean isRead() {
    return channel.config().isAutoRead();
  }

  @Test
  void doesNotReadAPeerThatAcceptsNoHeartbeats() {
    for (int pings = 1; pings < MAX_CALLS; pings++) {
      says(LinkFrame.PING);
      assertThat(isRead()).isTrue();
    }
    says(LinkFrame.PING);
    assertThat(isRead()).isFalse();
    channel.take();
    assertThat(isRead()).isTrue();
  }

  @Test
  void doesNotReadAPeerThatAcceptsNoAnswers() {
    calls();
    calls();
    assertThat(isRead()).isTrue();
    // By now these are more bytes than may be under way.
    calls();
    assertThat(isRead()).isFalse();
    channel.take();
    assertThat(isRead()).isTrue();
  }

  @Test
  void countsUnsentBytesOfAbandonedCalls() {
    for (int calls = 0; calls < 2; calls++) {
      var unused = link.call(1, new byte[65_000], DEADLINE);
    }
    passes(DEADLINE);
    CompletableFuture<byte[]> refused = link.call(1, new byte[65_000], DEADLINE);
    assertThatThrownBy(refused::get)
        .hasMessageContaining("calls under way to bus bus-b: 0, 130000");
    assertThat(channel.isOpen()).isTrue();
    channel.take();
    assertThat(link.call(1, new byte[65_000], DEADLINE)).isNotDone();
  }

  @Test
  void aCallThatIsTakenAndNotAnsweredFailsAlone() {
    CompletableFuture<byte[]> answer = link.call(1, new byte[100], DEADLINE);
    channel.take();
    passes(DEADLINE);
    assertThatThrownBy(answer::get).hasCauseInstanceOf(LinkException.class);
    assertThat(channel.isOpen()).isTrue();
  }

  /** Simulates that there is no direct memory left. */
  private void refuseMemory() {
    channel.config().setAllocator(new RefusingAllocator());
  }

  @Test
  void aCallForWhichThereIsNoMemoryFailsAndLeavesNothingBehind() {
    refuseMemory();
    CompletableFuture<byte[]> answer = link.call(1, new byte[100], DEADLINE);
    assertThat(answer).isCompletedExceptionally();
    assertThatThrownBy(answer::get).matches(RefusedMemory::isRefused);
    channel.config().setAllocator(UnpooledByteBufAllocator.DEFAULT);
    for (int calls = 0; calls < MAX_CALLS; calls++) {
      assertThat(link.call(1, new byte[100], DEADLINE)).isNotDone();
    }
  }

  @Test
  void aLinkWhoseAnswersFindNoMemoryEnds() {
    refuseMemory();
    calls();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aLinkThatTakesNothingEndsAlsoWhileThereIsMore() {
    isIdle();
    isIdle();
    var unused = link.call(1, new byte[100], DEADLINE);
    assertThat(channel.isOpen()).isTrue();
    isIdle();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aLinkThatTakesLittleByLittleGoesOn() {
    var unused = link.call(1, new byte[100], DEADLINE);
    isIdle();
    for (int parts = 0; parts < 5; parts++) {
      isIdle();
      channel.takePart();
    }
    isIdle();
    channel.take();
    isIdle();
    channel.take();
    isIdle();
    assertThat(channel.isOpen()).isTrue();
  }

  private void isIdle() {
    channel.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
  }

  private void passes(Duration time) {
    channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    channel.runScheduledPendingTasks();
  }
}
