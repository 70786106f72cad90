package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** End of a lane that opens it. */
class LaneTest {
  private final TestBus bus = new TestBus();
  private final Peer b = bus.peer("b", 2);
  private final Lane lane = b.lane(0);

  @AfterEach
  void close() {
    bus.close();
  }

  private static void welcome(EmbeddedChannel channel, long taken) {
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, taken)));
  }

  private EmbeddedChannel up(Lane which, String name) {
    which.connect();
    EmbeddedChannel channel = bus.opening().answer(name, 7);
    welcome(channel, 0);
    bus.run();
    assertThat(which.isUp()).isTrue();
    LaneFrames.written(channel);
    return channel;
  }

  @Test
  void sendsNothingToAnotherBusAtTheAddress() {
    bus.offer(lane, 1);
    lane.connect();
    EmbeddedChannel channel = bus.opening().answer("c", 7);
    if (channel.isOpen()) {
      welcome(channel, 0);
    }
    bus.run();
    assertThat(channel.isOpen()).isFalse();
    assertThat(channel.outboundMessages()).isEmpty();
    assertThat(lane.isUp()).isFalse();
    assertThat(b.upLanes()).isZero();
    assertThat(lane.isIdle()).as("it waits for the right bus").isFalse();
  }

  @Test
  void givingUpDuringTheHandshakeKeepsTheNumbers() {
    bus.offer(lane, 1);
    bus.offer(lane, 2);
    lane.connect();
    EmbeddedChannel first = bus.opening().answer("b", 7);
    assertThat(LaneFrames.written(first)).containsExactly("hello 1");
    lane.abandon("it takes too long");
    if (first.isOpen()) {
      welcome(first, 0);
    }
    bus.run();
    assertThat(lane.isUp()).as("by a greeting that is not true any more").isFalse();
    assertThat(first.isOpen()).isFalse();
  }

  private long lost() {
    return bus.loop(0).counters().lostGivenUp.get();
  }

  private long notNeeded() {
    return bus.loop(0).counters().notNeeded.get();
  }

  @Test
  void countsNoLossForAPeerThatEndedInOrder() {
    up(lane, "b");
    bus.offer(lane, 1);
    lane.onGoodbye(7);
    bus.offer(lane, 2);
    bus.run();
    assertThat(notNeeded()).isEqualTo(2);
    assertThat(lost()).isZero();
    assertThat(b.lost()).isZero();
    // From now on another process, which may well need its frames.
    lane.resume();
    bus.offer(lane, 3);
    lane.abandon("it takes too long");
    assertThat(lost()).isEqualTo(1);
    assertThat(notNeeded()).isEqualTo(2);
  }

  @Test
  void aBusThatIsGivenUpAndThenSaysGoodbyeNeedsNothingFromThenOn() {
    bus.offer(lane, 1);
    lane.abandon("it takes too long");
    bus.offer(lane, 2);
    assertThat(lost()).isEqualTo(2);
    lane.onGoodbye(7);
    bus.offer(lane, 3);
    assertThat(lost()).isEqualTo(2);
    assertThat(notNeeded()).isEqualTo(1);
  }

  @Test
  void countsALossForTheRemainingMembersOfAGroup() {
    up(lane, "b");
    Delivery delivery = bus.delivery("t", 1, 1, "x");
    LanePath.of(lane, "", 1, true, List.of("workers"), List.of(), List.of(), Overflow.BLOCK, null)
        .offer(delivery, Overflow.BLOCK);
    delivery.release();
    lane.onGoodbye(7);
    assertThat(lost()).isEqualTo(1);
    assertThat(b.lost()).isEqualTo(1);
    assertThat(notNeeded()).isZero();
  }

  @Test
  void aBypassIsAsFullAsItsLanes() {
    Peer c = bus.peer("c", 3);
    EmbeddedChannel toB = up(lane, "b");
    LanePath path =
        LanePath.of(lane, "", 1, true, List.of(), List.of(c), List.of(), Overflow.BLOCK, null);
    Lane toC = c.lane(0);
    for (int i = 1; !toC.isFull(); i++) {
      bus.offer(toC, i);
    }
    assertThat(path.isFull()).as("the frames go through b").isFalse();
    var unused = toB.close();
    bus.run();
    assertThat(path.isFull()).as("they go to c directly").isTrue();
    AtomicInteger retries = new AtomicInteger();
    path.whenNotFull(retries::incrementAndGet);
    assertThat(retries).hasValue(0);
    toC.abandon("it takes too long");
    assertThat(retries).hasValue(1);
    assertThat(path.isFull()).isFalse();
  }
}
