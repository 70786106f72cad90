package io.eventbus.server.federation.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.lane.Lane;
import io.eventbus.server.federation.lane.LaneReceiver;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.samples.FakeSubscriber;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Charging of subscribers while a lane is not read. */
class ForwardRelayTest {
  private record Charge(String topic, long nanos) {}

  private static final long MEMORY = 4 * 1024 * 1024;

  private final TestBus bus = new TestBus(1, TestBus.fanout(8), MEMORY);
  private final FakeSubscriber subscriber = new FakeSubscriber(0);
  private final List<Charge> charges = new ArrayList<>();
  private final EmbeddedChannel fromB =
      new EmbeddedChannel(
          new LaneReceiver(
                  bus.loop(0),
                  new LinkPeer("", "", "b", 7, "lane.0"),
                  new ForwardRelay(
                      bus.loop(0),
                      bus.routers.get(0),
                      (account, topic, nanos) -> charges.add(new Charge(topic, nanos))))
              .connection());

  ForwardRelayTest() {
    fromB.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1)));
    bus.subscribe(subscriber, "t");
    bus.run();
    // The lane to b is up as well, and deadlines are checked seldom.
    bus.peer("b", 2).lane(0).connect();
    EmbeddedChannel toB = bus.opening().answer("b", 7);
    toB.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    bus.pass(Duration.ofSeconds(1));
  }

  @AfterEach
  void close() {
    bus.close();
  }

  private long charged() {
    return charges.stream().mapToLong(Charge::nanos).sum();
  }

  @Test
  void chargesFullSubscribersForHoldingALane() {
    subscriber.full(true);
    fromB.writeInbound(LaneFrames.of(bus.forward("t", 1, "x")));
    bus.pass(Duration.ofSeconds(1));
    assertThat(charges).hasSizeGreaterThanOrEqualTo(10);
    assertThat(charges)
        .allSatisfy(
            charge -> {
              assertThat(charge.topic()).isEqualTo("t");
              assertThat(charge.nanos())
                  .isNotNegative()
                  .isLessThanOrEqualTo(Duration.ofMillis(100).toNanos());
            });
    bus.pass(Duration.ofMillis(10));
    subscriber.full(false);
    bus.run();
    assertThat(charged()).isEqualTo(Duration.ofMillis(1_010).toNanos());
    bus.pass(Duration.ofSeconds(1));
    assertThat(charged()).as("it is read again").isEqualTo(Duration.ofMillis(1_010).toNanos());
  }

  @Test
  void chargesNobodyForTheMemoryOfTheBus() {
    Lane toC = bus.peer("c", 3).lane(0);
    for (int i = 1; toC.bytes() <= MEMORY; i++) {
      bus.offer(toC, i);
    }
    fromB.writeInbound(LaneFrames.of(bus.forward("t", 1, "x")));
    bus.pass(Duration.ofSeconds(1));
    assertThat(subscriber.got).isEmpty();
    assertThat(charges).isEmpty();
  }

  @Test
  void aConnectionThatEndsIsChargedNoLonger() {
    subscriber.full(true);
    fromB.writeInbound(LaneFrames.of(bus.forward("t", 1, "x")));
    bus.pass(Duration.ofMillis(510));
    var unused = fromB.close();
    bus.run();
    bus.pass(Duration.ofSeconds(1));
    assertThat(charged()).isEqualTo(Duration.ofMillis(510).toNanos());
  }
}
