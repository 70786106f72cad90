package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.samples.FakeSubscriber;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** End of a lane that a peer has opened. */
class LaneReceiverTest {
  private static final LinkPeer B = new LinkPeer("", "", "b", 7, "lane.0");

  private final TestBus bus = new TestBus();
  private final FakeSubscriber subscriber = new FakeSubscriber(0);

  /** Connection that closes slowly. */
  private static final class SlowToClose extends ChannelOutboundHandlerAdapter {
    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {}
  }

  @AfterEach
  void close() {
    bus.close();
  }

  private ChannelHandler receiver() {
    return bus.receiver(B);
  }

  private IncomingLane incoming() {
    return bus.peer("b", 2).incoming(0, bus.loop(0));
  }

  @Test
  void routesFramesBeforeAMalformedFrameOnce() {
    bus.subscribe(subscriber, "t");
    EmbeddedChannel channel = new EmbeddedChannel(receiver());
    channel.writeInbound(
        LaneFrames.of(
            LaneFrames.hello(0, 1),
            bus.forward("t", 1, "x"),
            bus.forward("t", 2, "x"),
            PeerFrames.encode(PeerFrames.FORWARD)));
    bus.run();
    assertThat(channel.isOpen()).isFalse();
    assertThat(subscriber.got).hasSize(2);
    assertThat(incoming().nextSequence()).isEqualTo(3);
  }

  @Test
  void aFrameThatIsNotKnownEndsTheConnectionAndIsNotCounted() {
    bus.subscribe(subscriber, "t");
    EmbeddedChannel channel = new EmbeddedChannel(receiver());
    channel.writeInbound(
        LaneFrames.of(
            LaneFrames.hello(0, 1),
            bus.forward("t", 1, "x"),
            LaneFrames.number(99, 1),
            bus.forward("t", 2, "x")));
    bus.run();
    assertThat(channel.isOpen()).isFalse();
    assertThat(subscriber.got).hasSize(1);
    assertThat(incoming().nextSequence()).isEqualTo(2);
  }

  @Test
  void aRelayDoesNotWaitForRoomInALane() {
    Lane toC = bus.peer("c", 3).lane(0);
    bus.subscribe(subscriber, "t");
    long room = bus.config().queueBytes();
    for (int i = 1; toC.bytes() <= 2 * room; i++) {
      bus.offer(toC, i);
    }
    EmbeddedChannel channel = new EmbeddedChannel(receiver());
    channel.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1), bus.forward("t", 1, "x", 3)));
    bus.run();
    assertThat(subscriber.got).hasSize(1);
    assertThat(LaneFrames.written(channel)).as("c has to say so").containsExactly("welcome 0");
  }

  @Test
  void aBusThatTheRegistryDoesNotNameYetIsWaitedFor() {
    bus.subscribe(subscriber, "t");
    EmbeddedChannel channel = new EmbeddedChannel(receiver());
    byte[] forward = bus.forward("t", 1, "x", 3);
    channel.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1), forward));
    bus.run();
    assertThat(subscriber.got).isEmpty();
    Peer c = bus.peer("c", 3);
    bus.later();
    assertThat(subscriber.got).hasSize(1);
    assertThat(c.lane(0).isIdle()).isFalse();
  }

  @Test
  void aBusThatIsNeverNamedIsCountedByEvents() {
    bus.subscribe(subscriber, "t");
    EmbeddedChannel channel = new EmbeddedChannel(receiver());
    byte[] forward = bus.forward("t", 1, "xy", 3);
    channel.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1), forward));
    for (int i = 0; i < 1_000 && subscriber.got.isEmpty(); i++) {
      bus.later();
    }
    assertThat(subscriber.got).hasSize(1);
    assertThat(bus.loop(0).counters().lostGivenUp.get()).isEqualTo(2);
  }

  @Test
  void aConnectionThatWasReplacedTakesNothingMore() {
    bus.subscribe(subscriber, "t");
    EmbeddedChannel first = new EmbeddedChannel(new SlowToClose(), receiver());
    subscriber.full(true);
    first.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1), bus.forward("t", 1, "x")));
    assertThat(subscriber.got).isEmpty();
    EmbeddedChannel second = new EmbeddedChannel(receiver());
    second.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1)));
    assertThat(LaneFrames.written(second)).contains("welcome 0");
    // The bytes kept by the first connection are sent again on the second one.
    subscriber.full(false);
    bus.run();
    second.writeInbound(LaneFrames.of(bus.forward("t", 1, "x")));
    bus.run();
    assertThat(subscriber.got).hasSize(1);
    assertThat(incoming().nextSequence()).isEqualTo(2);
  }
}
