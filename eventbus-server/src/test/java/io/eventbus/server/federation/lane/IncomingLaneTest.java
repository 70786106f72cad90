package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Acknowledgement of frames that are passed on. */
class IncomingLaneTest {
  private final TestBus bus = new TestBus();
  private final Peer c = bus.peer("c", 3);
  private final Peer d = bus.peer("d", 4);

  @AfterEach
  void close() {
    bus.close();
  }

  private EmbeddedChannel from(long instance, byte[]... frames) {
    EmbeddedChannel channel =
        new EmbeddedChannel(bus.receiver(new LinkPeer("", "", "b", instance, "lane.0")));
    channel.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1)));
    channel.writeInbound(LaneFrames.of(frames));
    bus.later();
    return channel;
  }

  @Test
  void framesDoNotWaitForOneBeforeThemThatIsStillPassedOn() {
    EmbeddedChannel b =
        from(
            7,
            bus.forward("t", 1, "x"),
            bus.forward("t", 2, "x", 3),
            bus.forward("t", 3, "x"),
            bus.forward("t", 4, "x", 4),
            bus.forward("t", 5, "x"));
    assertThat(LaneFrames.written(b))
        .containsExactly("welcome 0", "ack 1", "ack 3 to 3", "ack 5 to 5");
    d.lane(0).abandon("it takes too long");
    assertThat(LaneFrames.written(b)).containsExactly("ack 4 to 4");
    c.lane(0).abandon("it takes too long");
    assertThat(LaneFrames.written(b)).containsExactly("ack 5");
  }

  @Test
  void acknowledgesSingleFramesTogether() {
    EmbeddedChannel b = new EmbeddedChannel(bus.receiver(new LinkPeer("", "", "b", 7, "lane.0")));
    b.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1)));
    for (int i = 1; i <= 3; i++) {
      b.writeInbound(LaneFrames.of(bus.forward("t", i, "x")));
      bus.run();
    }
    assertThat(LaneFrames.written(b)).containsExactly("welcome 0");
    bus.later();
    assertThat(LaneFrames.written(b)).containsExactly("ack 3");
  }

  @Test
  void repeatsAcknowledgementsOnANewConnection() {
    EmbeddedChannel first = from(7, bus.forward("t", 1, "x", 3), bus.forward("t", 2, "x"));
    assertThat(LaneFrames.written(first)).containsExactly("welcome 0", "ack 2 to 2");
    assertThat(LaneFrames.written(from(7))).containsExactly("welcome 2", "ack 2 to 2");
  }

  @Test
  void restartsTheCountForAnotherProcess() {
    var unused = from(7, bus.forward("t", 1, "x", 3));
    EmbeddedChannel b = from(8, bus.forward("t", 1, "x", 4));
    assertThat(LaneFrames.written(b)).containsExactly("welcome 0");
    c.lane(0).abandon("it takes too long");
    assertThat(LaneFrames.written(b)).as("d has not got it yet").isEmpty();
    d.lane(0).abandon("it takes too long");
    assertThat(LaneFrames.written(b)).containsExactly("ack 1");
  }
}
