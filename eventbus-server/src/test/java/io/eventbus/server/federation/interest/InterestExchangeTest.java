package io.eventbus.server.federation.interest;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Guarantees of a bus for all buses. */
class InterestExchangeTest {
  private final TestBus bus = new TestBus();
  private final FakeSubscriber subscriber = new FakeSubscriber(0);
  private final List<Boolean> answers = new ArrayList<>();

  @Test
  void aStartingBusIsNotAlone() {
    assertThat(bus.federation.isAlone()).isFalse();
    bus.federation.whenInterestPropagated(0, answers::add);
    bus.federation.whenInboundDelivered(0, answers::add);
    bus.federation.whenPublishedDelivered(0, 1, answers::add);
    bus.run();
    assertThat(answers).isEmpty();
    bus.exchange().onMembers(Set.of(), true);
    bus.run();
    assertThat(answers).containsExactly(true, true, true);
    assertThat(bus.federation.isAlone()).isTrue();
  }

  /** Lets a peer ask whether everything sent to it has arrived. */
  private EmbeddedChannel asks(String linkPeer) {
    EmbeddedChannel channel =
        new EmbeddedChannel(bus.receiver(new LinkPeer("", "", linkPeer, 7, "lane.0")));
    channel.writeInbound(
        LaneFrames.of(LaneFrames.hello(0, 1), LaneFrames.number(PeerFrames.SYNC, 5)));
    bus.run();
    return channel;
  }

  @Test
  void waitsForRelayedFramesWhateverTheNumberOfPeers() {
    Peer b = bus.peer("b", 2);
    Peer c = bus.peer("c", 3);
    b.lane(0).connect();
    EmbeddedChannel toB = bus.opening().answer("b", 7);
    toB.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    bus.run();
    // There were more buses a moment ago, and the path to c led through b.
    bus.offer(b.lane(0), 1, List.of(c));
    bus.run();
    EmbeddedChannel fromC = asks("c");
    assertThat(LaneFrames.written(fromC)).doesNotContain("synced 5");
    toB.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_ACK, 1)));
    bus.run();
    assertThat(LaneFrames.written(fromC)).containsExactly("synced 5");
  }

  @Test
  void lateEventsDoNotMakeAForgottenPeerKnownAgain() {
    Peer b = bus.peer("b", 2);
    InterestExchange exchange = bus.exchange();
    exchange.onMembers(Set.of(b), true);
    assertThat(exchange.known()).isEqualTo(1);
    exchange.onForgotten(b);
    exchange.onLaneDown(b);
    exchange.onAbandoned(b);
    exchange.onApplied(b, 3);
    assertThat(exchange.isMember(b)).isFalse();
    assertThat(exchange.known()).isZero();
  }

  @Test
  void appliesThousandsOfFiltersInTurns() {
    EmbeddedChannel fromB =
        new EmbeddedChannel(bus.receiver(new LinkPeer("", "", "b", 7, "lane.0")));
    fromB.writeInbound(LaneFrames.of(LaneFrames.hello(0, 1)));
    LocalInterest ofB = new LocalInterest(() -> {});
    SubscriptionIndex indexOfB = new SubscriptionIndex(1);
    indexOfB.onLocalChange(ofB);
    for (int i = 0; i < 2_000; i++) {
      indexOfB.add(
          new RoutedSubscription(
              subscriber, i, TopicFilter.parse("t" + i), null, Overflow.DROP_OLDEST));
    }
    bus.work(400_000);
    fromB.writeInbound(Unpooled.wrappedBuffer(ofB.whole().toArray(new byte[0][])));
    int first = bus.exchange().filtersOf(bus.peer("b", 2));
    assertThat(first).as("of frames of 256").isIn(256, 512, 768);
    assertThat(fromB.config().isAutoRead()).isFalse();
    int pauses = 0;
    while (bus.exchange().filtersOf(bus.peer("b", 2)) < 2_000) {
      int before = bus.exchange().filtersOf(bus.peer("b", 2));
      fromB.advanceTimeBy(1, TimeUnit.MILLISECONDS);
      bus.later();
      assertThat(bus.exchange().filtersOf(bus.peer("b", 2)) - before).isLessThanOrEqualTo(768);
      assertThat(++pauses).isLessThan(10);
    }
    assertThat(LaneFrames.written(fromB)).contains("applied 2000");
    assertThat(fromB.config().isAutoRead()).isTrue();
  }

  @Test
  void doesNotWaitForFramesToOtherPeers() {
    Peer b = bus.peer("b", 2);
    bus.peer("c", 3);
    bus.offer(b.lane(0), 1);
    assertThat(LaneFrames.written(asks("c"))).contains("synced 5");
  }

  @Test
  void announcesTheChangesOfATurnTogether() {
    Peer b = bus.peer("b", 2);
    InterestExchange exchange = bus.exchange();
    exchange.onMembers(Set.of(b), true);
    bus.startLatch().open();
    b.lane(0).connect();
    EmbeddedChannel channel = bus.opening().answer("b", 7);
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    bus.run();
    LaneFrames.written(channel);
    for (int i = 1; i <= 3; i++) {
      bus.subscribe(subscriber, "t" + i);
      exchange.whenInterestPropagated(i, answers::add);
    }
    bus.run();
    assertThat(LaneFrames.written(channel)).containsExactly("interest");
    assertThat(answers).isEmpty();
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.INTEREST_APPLIED, 2)));
    assertThat(answers).containsExactly(true, true);
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.INTEREST_APPLIED, 3)));
    assertThat(answers).containsExactly(true, true, true);
  }
}
