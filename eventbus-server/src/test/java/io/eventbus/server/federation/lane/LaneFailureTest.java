package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.samples.RefusingAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Failing lanes, above all for lack of memory: each fails alone and recovers. */
class LaneFailureTest {
  private final TestBus bus = new TestBus();
  private final Lane toB = bus.peer("b", 2).lane(0);
  private final Lane toC = bus.peer("c", 3).lane(0);
  private final EmbeddedChannel b = up(toB, "b");
  private final EmbeddedChannel c = up(toC, "c");

  @AfterEach
  void close() {
    bus.close();
  }

  private EmbeddedChannel up(Lane lane, String name) {
    lane.connect();
    EmbeddedChannel channel = bus.opening().answer(name, 7);
    welcome(channel);
    bus.run();
    assertThat(lane.isUp()).isTrue();
    LaneFrames.written(channel);
    return channel;
  }

  private static void welcome(EmbeddedChannel channel) {
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
  }

  @Test
  void aLaneThatCannotBeWrittenEndsAndTheOthersAreWritten() {
    b.config().setAllocator(new RefusingAllocator(UnpooledByteBufAllocator.DEFAULT));
    bus.offer(toB, 1);
    bus.offer(toC, 1);
    bus.run();
    assertThat(LaneFrames.written(c)).containsExactly("forward");
    assertThat(b.isOpen()).isFalse();
    assertThat(toB.isUp()).isFalse();
    bus.offer(toC, 2);
    bus.run();
    assertThat(LaneFrames.written(c)).as("still").containsExactly("forward");
  }

  @Test
  void anAnswerThatIsNotKnownEndsItsConnectionOnly() {
    b.writeInbound(LaneFrames.of(LaneFrames.number(99, 1)));
    bus.run();
    assertThat(b.isOpen()).isFalse();
    assertThat(toB.isUp()).isFalse();
    assertThat(toC.isUp()).isTrue();
  }

  @Test
  void resendsUnwrittenFramesOnTheNextConnection() {
    b.config().setAllocator(new RefusingAllocator(UnpooledByteBufAllocator.DEFAULT));
    bus.offer(toB, 1);
    bus.run();
    bus.pass(Duration.ofSeconds(2));
    EmbeddedChannel again = bus.opening().answer("b", 7);
    again.config().setAllocator(UnpooledByteBufAllocator.DEFAULT);
    welcome(again);
    bus.run();
    assertThat(LaneFrames.written(again)).contains("hello 1", "forward");
  }

  @Test
  void aLaneWhoseDeadlinesCannotBeCheckedDoesNotKeepOthersFromTheirs() {
    bus.offer(toB, 1);
    toB.whenAcknowledged(
        () -> {
          throw new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory");
        });
    var unused = b.close();
    bus.run();
    // The peer is given up in a tick, and callers that wait for it fail.
    long seconds = bus.config().peerTimeout().toSeconds() + 1;
    for (int i = 0; i < seconds; i++) {
      c.writeInbound(LaneFrames.of(PeerFrames.encode(PeerFrames.ALIVE)));
      bus.pass(Duration.ofSeconds(1));
    }
    assertThat(toB.isIdle()).as("given up").isTrue();
    LaneFrames.written(c);
    bus.pass(bus.config().heartbeat().plusSeconds(1));
    assertThat(LaneFrames.written(c)).as("a sign of life").isNotEmpty();
    assertThat(bus.isOpening()).as("lanes are tried again").isTrue();
  }

  @Test
  void aConnectionForWhichThereIsNoMemoryIsTriedAgain() {
    Lane toD = bus.peer("d", 4).lane(0);
    bus.refuseOpening(true);
    toD.connect();
    bus.run();
    bus.refuseOpening(false);
    bus.pass(Duration.ofSeconds(2));
    assertThat(bus.isOpening()).isTrue();
  }

  @Test
  void aChannelThatNamesNoLaneIsRefusedWithWhatWasExpected() {
    for (String name :
        new String[] {"lane.x", "lane.-1", "lane.1024", "lane.99999999999", "lane"}) {
      assertThatThrownBy(() -> LaneLoop.laneOf(new LinkPeer("", "", "b", 7, name)))
          .isExactlyInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(name)
          .hasMessageContaining("lane.0 to lane.1023");
    }
    assertThat(LaneLoop.laneOf(new LinkPeer("", "", "b", 7, "lane.12"))).isEqualTo(12);
  }
}
