package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Frames bypass a bus that was to pass them on, and use it again. */
class BypassTest {
  private final TestBus bus = new TestBus();
  private final Peer b = bus.peer("b", 2);
  private final Peer c = bus.peer("c", 3);
  private final Lane toB = b.lane(0);
  private final Lane toC = c.lane(0);
  private EmbeddedChannel fromB = up(toB, "b", 0);
  private final EmbeddedChannel fromC = up(toC, "c", 0);
  private long sequence;

  @AfterEach
  void close() {
    bus.close();
  }

  private EmbeddedChannel up(Lane lane, String name, long taken) {
    lane.connect();
    EmbeddedChannel channel = bus.opening().answer(name, 7);
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, taken)));
    bus.run();
    assertThat(lane.isUp()).isTrue();
    LaneFrames.written(channel);
    return channel;
  }

  /**
   * Cuts and restores the lane to b; c gets directly the frames that b was to pass on meanwhile.
   */
  private void reconnect(long taken) {
    var unused = fromB.close();
    bus.run();
    assertThat(toB.isBypassing()).isTrue();
    offer();
    bus.pass(Duration.ofMillis(100));
    EmbeddedChannel again = bus.opening().answer("b", 7);
    again.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, taken)));
    fromB = again;
    bus.run();
  }

  private void offer() {
    bus.offer(toB, ++sequence, List.of(c));
    bus.run();
  }

  private static void ack(EmbeddedChannel channel, long upTo) {
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_ACK, upTo)));
  }

  private static long forwards(EmbeddedChannel channel) {
    return LaneFrames.written(channel).stream().filter("forward"::equals).count();
  }

  @Test
  void aBypassEndsUnderConstantLoad() {
    Lane busy = bus.peer("d", 4).lane(0);
    bus.offer(busy, 1);
    reconnect(0);
    assertThat(forwards(fromC)).as("past b").isEqualTo(1);
    assertThat(forwards(fromB)).as("for b itself").isEqualTo(1);
    for (int i = 0; i < 10; i++) {
      offer();
    }
    assertThat(forwards(fromC)).as("through b again").isZero();
    assertThat(forwards(fromB)).as("not before what went past it").isZero();
    ack(fromC, 1);
    bus.run();
    assertThat(forwards(fromB)).isEqualTo(10);
    assertThat(toB.isBypassing()).isFalse();
    offer();
    assertThat(forwards(fromB)).isEqualTo(1);
    assertThat(forwards(fromC)).isZero();
    assertThat(busy.isIdle()).as("others need not be idle").isFalse();
  }

  @Test
  void arrivedFramesHoldNothingBack() {
    var unused = fromB.close();
    bus.run();
    offer();
    ack(fromC, 1);
    bus.pass(Duration.ofMillis(100));
    fromB = bus.opening().answer("b", 7);
    fromB.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    bus.run();
    LaneFrames.written(fromB);
    offer();
    assertThat(forwards(fromB)).isEqualTo(1);
  }

  @Test
  void bypassesTheRelayInOrderAfterAHoldThatIsTooLong() {
    reconnect(0);
    LaneFrames.written(fromB);
    LaneFrames.written(fromC);
    offer();
    offer();
    assertThat(forwards(fromB)).isZero();
    bus.pass(Duration.ofNanos(Bypass.MAX_HOLD_NANOS).plusMillis(200));
    assertThat(forwards(fromC)).as("past b after all").isEqualTo(2);
    assertThat(forwards(fromB)).as("for b itself").isEqualTo(2);
    assertThat(toB.isBypassing()).isTrue();
    ack(fromC, 3);
    bus.pass(Duration.ofSeconds(2));
    assertThat(toB.isBypassing()).isFalse();
    offer();
    assertThat(forwards(fromB)).isEqualTo(1);
  }

  @Test
  void bypassesTheRelayWithHeldFramesWhenTheLaneBreaksAgain() {
    reconnect(0);
    LaneFrames.written(fromC);
    offer();
    var unused = fromB.close();
    bus.run();
    assertThat(forwards(fromC)).isEqualTo(1);
    assertThat(toB.isHolding()).isFalse();
  }

  @Test
  void sendsUnacknowledgedFramesPastAnEndedRelay() {
    offer();
    assertThat(forwards(fromC)).isZero();
    toB.onGoodbye(7);
    bus.run();
    assertThat(forwards(fromC)).isEqualTo(1);
  }

  @Test
  void aBypassForWeakPoliciesKeepsItsBound() {
    var unused = fromB.close();
    bus.run();
    long maximum = 0;
    for (int i = 0; i < 3_000; i++) {
      Delivery delivery = bus.delivery("t", 1, ++sequence, "x".repeat(50));
      LanePath.of(toB, "", 1, true, List.of(), List.of(c), List.of(), Overflow.DROP_OLDEST, null)
          .offer(delivery, Overflow.DROP_OLDEST);
      maximum = Math.max(maximum, delivery.size());
      delivery.release();
    }
    long bound = bus.config().queueBytes() + maximum;
    assertThat(toC.bytes()).isPositive().isLessThanOrEqualTo(bound);
    assertThat(toB.bytes()).isPositive().isLessThanOrEqualTo(bound);
    assertThat(bus.loop(0).counters().lostQueueFull.get()).as("told").isPositive();
  }
}
