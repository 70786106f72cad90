package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.interest.InterestExchange;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Timing of lanes: as few wake-ups as possible, and nothing too late. */
class LaneHeartbeatTest {
  private static final String ALIVE = "type " + PeerFrames.ALIVE;
  private static final Duration HALF = Duration.ofMillis(500);
  private static final Duration SOON = Duration.ofMillis(100);

  private TestBus bus = new TestBus();

  @AfterEach
  void close() {
    bus.close();
  }

  /** Connects the bus's lane to a peer. */
  private EmbeddedChannel up(String name, int number) {
    Lane lane = bus.peer(name, number).lane(0);
    lane.connect();
    EmbeddedChannel channel = bus.opening().answer(name, number);
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    bus.run();
    assertThat(lane.isUp()).isTrue();
    LaneFrames.written(channel);
    return channel;
  }

  /** Connects a peer's lane to the bus. */
  private EmbeddedChannel receiver(String name, int instance) {
    EmbeddedChannel channel =
        new EmbeddedChannel(bus.receiver(new LinkPeer("", "", name, instance, "lane.0")));
    channel.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1)));
    LaneFrames.written(channel);
    return channel;
  }

  /** Sends keepalives of peers. */
  private static void live(EmbeddedChannel... channels) {
    for (EmbeddedChannel channel : channels) {
      channel.writeInbound(LaneFrames.of(PeerFrames.encode(PeerFrames.ALIVE)));
    }
  }

  @Test
  void quietLanesOfALoopWakeItOnceForEachHeartbeat() {
    // They come up one after the other, and send keepalives together all the same.
    List<EmbeddedChannel> lanes = new ArrayList<>();
    lanes.add(up("b", 2));
    bus.pass(Duration.ofMillis(300));
    lanes.add(up("c", 3));
    bus.pass(Duration.ofMillis(400));
    lanes.add(receiver("b", 2));
    bus.pass(Duration.ofSeconds(2));
    lanes.forEach(LaneFrames::written);
    int wakes = 0;
    for (int i = 0; i < 20; i++) {
      live(lanes.toArray(EmbeddedChannel[]::new));
      wakes += bus.pass(HALF);
    }
    assertThat(wakes).as("in 10 s").isBetween(10, 11);
    for (EmbeddedChannel lane : lanes) {
      assertThat(lane.isOpen()).isTrue();
      assertThat(LaneFrames.written(lane)).hasSizeBetween(10, 11).containsOnly(ALIVE);
    }
  }

  @Test
  void sendsAKeepalivePerHeartbeatWhateverElseIsSent() {
    EmbeddedChannel lane = up("b", 2);
    bus.pass(Duration.ofMillis(700));
    bus.offer(bus.peer("b", 2).lane(0), 1);
    bus.run();
    assertThat(LaneFrames.written(lane)).containsExactly("forward");
    bus.pass(Duration.ofMillis(950));
    assertThat(LaneFrames.written(lane)).as("it has just been heard of").isEmpty();
    bus.pass(SOON);
    assertThat(LaneFrames.written(lane)).containsExactly(ALIVE);
  }

  @Test
  void aLaneWhoseOtherEndIsSilentIsClosedInTime() {
    EmbeddedChannel lane = up("b", 2);
    EmbeddedChannel receiver = receiver("b", 2);
    bus.pass(HALF);
    live(lane, receiver);
    bus.pass(bus.config().keepaliveTimeout().minusMillis(1));
    assertThat(lane.isOpen()).isTrue();
    assertThat(receiver.isOpen()).isTrue();
    bus.pass(SOON);
    assertThat(lane.isOpen()).isFalse();
    assertThat(receiver.isOpen()).isFalse();
  }

  @Test
  void reconnectsAnIdleLaneAtOnce() {
    EmbeddedChannel lane = up("b", 2);
    bus.pass(Duration.ofMillis(300));
    var unused = lane.close();
    bus.pass(SOON);
    assertThat(bus.isOpening()).isTrue();
  }

  @Test
  void connectsToANewPeerAtOnce() {
    up("b", 2);
    bus.pass(Duration.ofMillis(1_300));
    bus.peer("c", 3).address(InetSocketAddress.createUnresolved("127.0.0.1", 10));
    bus.pass(SOON);
    assertThat(bus.isOpening()).isTrue();
  }

  @Test
  void waitsForASilentPeerTimeOut() {
    FederationConfig defaults = ServerConfig.defaults().federation();
    Duration confirm = Duration.ofMillis(200);
    bus =
        new TestBus(
            1,
            new FederationConfig(
                8,
                defaults.queueBytes(),
                defaults.memoryPercent(),
                defaults.filters(),
                confirm,
                defaults.peerTimeout(),
                defaults.heartbeat(),
                defaults.keepaliveTimeout()));
    InterestExchange exchange = bus.exchange();
    exchange.onMembers(Set.of(bus.peer("b", 2)), true);
    bus.startLatch().open();
    up("b", 2);
    bus.pass(Duration.ofMillis(1_300));
    List<Boolean> answers = new ArrayList<>();
    exchange.whenInterestPropagated(1, answers::add);
    bus.pass(confirm.minusMillis(1));
    assertThat(answers).isEmpty();
    bus.pass(SOON);
    assertThat(answers).containsExactly(false);
    bus.pass(Duration.ofMillis(1_300));
    exchange.whenInboundDelivered(answers::add);
    bus.pass(confirm.minusMillis(1));
    assertThat(answers).hasSize(1);
    bus.pass(SOON);
    assertThat(answers).containsExactly(false, false);
  }
}
