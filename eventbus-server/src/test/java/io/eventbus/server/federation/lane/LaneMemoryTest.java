package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory of all lanes of a bus together. */
class LaneMemoryTest {
  private static final int LANES = 16;

  /** A quarter is for lanes: less than all of them may keep by themselves. */
  private static final long MEMORY = 2 * 1024 * 1024;

  private final TestBus bus = new TestBus(1, TestBus.fanout(LANES), MEMORY);
  private final List<Lane> lanes = new ArrayList<>();
  private long sequence;

  LaneMemoryTest() {
    for (int i = 0; i < LANES; i++) {
      lanes.add(bus.peer("bus-" + i, i + 2).lane(0));
    }
  }

  @AfterEach
  void close() {
    bus.close();
  }

  private void offer(Lane lane) {
    Delivery delivery = bus.delivery("t", 1, ++sequence, "x".repeat(100));
    LanePath.of(lane, "", 1, true, List.of(), List.of(), List.of(), Overflow.BLOCK, null)
        .offer(delivery, Overflow.BLOCK);
    delivery.release();
  }

  private void fill(Lane lane) {
    while (!lane.isFull()) {
      offer(lane);
    }
  }

  private long held() {
    return lanes.stream().mapToLong(Lane::bytes).sum();
  }

  private EmbeddedChannel up(Lane lane) {
    lane.connect();
    EmbeddedChannel channel = bus.opening().answer(lane.peer().id().value(), 7);
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    bus.run();
    assertThat(lane.isUp()).isTrue();
    return channel;
  }

  @Test
  void allLanesTogetherStayWithinTheirPartAndNoneIsShutOut() {
    for (Lane lane : lanes) {
      assertThat(lane.isFull()).as("a lane that holds nothing").isFalse();
      fill(lane);
      assertThat(held()).isLessThanOrEqualTo(MEMORY / 4);
    }
    assertThat(lanes.get(0).bytes()).as("while there was room").isGreaterThan(64 * 1024);
    assertThat(lanes.get(LANES - 1).bytes()).isPositive().isLessThan(64 * 1024);
  }

  @Test
  void dropsTheLargestBacklogOfUnreachablePeersFirst() {
    up(lanes.get(0));
    for (int i = 0; i < 5; i++) {
      fill(lanes.get(i));
    }
    offer(lanes.get(2));
    assertThat(bus.loop(0).laneMemory().isScarce()).isTrue();
    bus.pass(Duration.ofSeconds(1));
    assertThat(lanes.get(2).bytes()).as("publishers wait, and nothing is lost").isPositive();
    assertThat(bus.federation.dropLargestBacklog()).isTrue();
    bus.run();
    assertThat(lanes.get(0).bytes()).as("it can be reached").isGreaterThan(64 * 1024);
    assertThat(lanes.get(1).bytes()).as("there is less for it").isGreaterThan(64 * 1024);
    assertThat(lanes.get(2).isIdle()).as("it is the fullest that cannot be reached").isTrue();
    assertThat(lanes.get(2).peer().lost()).isPositive();
    assertThat(bus.loop(0).laneMemory().isScarce()).isFalse();
  }

  @Test
  void freesTheBacklogOfAnUnreachablePeer() {
    up(lanes.get(0));
    offer(lanes.get(0));
    assertThat(bus.federation.dropLargestBacklog()).as("only what is on its way").isFalse();
    offer(lanes.get(1));
    assertThat(bus.federation.dropLargestBacklog()).isTrue();
    bus.run();
    assertThat(lanes.get(1).isIdle()).isTrue();
    assertThat(lanes.get(1).peer().lost()).isEqualTo(100);
    assertThat(lanes.get(0).bytes()).isPositive();
    assertThat(bus.federation.dropLargestBacklog()).as("there is none any more").isFalse();
  }
}
