package io.eventbus.server.federation.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.federation.LaneFrames;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.lane.LanePath;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.routing.RemotePlan;
import io.eventbus.server.subscription.RemoteBus;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waiting of publishers when the paths of a topic change. */
class TopicPlanTest {
  private static final long PRODUCER = 42;

  private final TestBus bus = new TestBus(1, TestBus.fanout(1));
  private final Peer b = bus.peer("b", 2);
  private final Peer c = bus.peer("c", 3);
  private final Peer d = bus.peer("d", 4);
  private final AtomicInteger retries = new AtomicInteger();

  @AfterEach
  void close() {
    bus.close();
  }

  private RemotePlan plan(@Nullable RemotePlan before, Peer... wanting) {
    Map<RemoteBus, Overflow> plain = new LinkedHashMap<>();
    for (Peer peer : wanting) {
      plain.put(peer, Overflow.BLOCK);
    }
    return bus.forwarder(0).plan(before, "", "t", plain, Map.of());
  }

  private boolean mustWait(RemotePlan plan) {
    bus.run();
    return plan.mustWait(PRODUCER, retries::incrementAndGet);
  }

  private void sent(Peer peer) {
    bus.offer(peer.lane(0), 1);
  }

  private static void arrived(Peer peer) {
    peer.lane(0).abandon("it has everything");
  }

  @Test
  void aPlanWithTheSamePathsWaitsForNothing() {
    RemotePlan first = plan(null, b, c);
    assertThat(mustWait(first)).isFalse();
    sent(b);
    sent(c);
    assertThat(mustWait(plan(first, c, b))).isFalse();
  }

  @Test
  void aPlanWithOtherPathsWaitsForTheOldPaths() {
    RemotePlan first = plan(null, b, c);
    assertThat(mustWait(first)).isFalse();
    sent(c);
    // The topic has no subscribers there.
    sent(d);
    RemotePlan second = plan(first, b, c, bus.peer("e", 5));
    assertThat(mustWait(second)).isTrue();
    arrived(c);
    bus.run();
    assertThat(retries).hasValue(1);
    assertThat(mustWait(second)).as("for d").isFalse();
  }

  @Test
  void aThirdPlanWaitsForNoMoreThanTheSecond() {
    RemotePlan first = plan(null, b, c);
    assertThat(mustWait(first)).isFalse();
    sent(c);
    RemotePlan second = plan(first, b, c, d);
    assertThat(mustWait(second)).isTrue();
    sent(d);
    RemotePlan third = plan(second, b, c);
    assertThat(mustWait(third)).isTrue();
    arrived(c);
    assertThat(mustWait(third)).isFalse();
  }

  @Test
  void theFirstPlanWaitsForEarlierFrames() {
    sent(c);
    RemotePlan first = plan(null, b, c);
    assertThat(mustWait(first)).isTrue();
    arrived(c);
    assertThat(mustWait(first)).isFalse();
    sent(b);
    assertThat(mustWait(plan(null, b))).as("directly, as ever").isFalse();
  }

  @Test
  void aProducersEventsLeaveOnOneLoopWhereverItsClientIs() {
    TestBus three = new TestBus(3, TestBus.fanout(8));
    Map<RemoteBus, Overflow> plain = Map.of(three.peer("b", 2), Overflow.BLOCK);
    for (int at = 0; at < 3; at++) {
      RemotePlan plan = three.forwarder(at).plan(null, "", "t", plain, Map.of());
      for (long producer = 1; producer < 100; producer++) {
        for (int loop = 0; loop < 3; loop++) {
          assertThat(three.federation.isLaneLocal(loop, producer))
              .isEqualTo(plan.loop(producer) == loop);
        }
      }
    }
    three.close();
  }

  /** Fills the lanes to a set of buses. */
  private void fill(TestBus at, Peer... peers) {
    for (Peer peer : peers) {
      for (int i = 1; !peer.lane(0).isFull(); i++) {
        at.offer(peer.lane(0), i);
      }
    }
  }

  private static void makeRoom(Peer peer) {
    peer.lane(0).abandon("it has everything");
  }

  @Test
  void aWaitForAGroupIsEndedByAnyBusWithAMember() {
    for (String first : List.of("b", "c", "d")) {
      TestBus flat = new TestBus(1, TestBus.fanout(8));
      List<Peer> all = List.of(flat.peer("b", 2), flat.peer("c", 3), flat.peer("d", 4));
      RemotePlan plan =
          flat.forwarder(0).plan(null, "", "t", Map.of(), Map.of("g", List.<RemoteBus>copyOf(all)));
      fill(flat, all.toArray(new Peer[0]));
      assertThat(plan.mustWait(PRODUCER, retries::incrementAndGet)).isTrue();
      retries.set(0);
      for (Peer peer : all) {
        if (peer.id().value().equals(first)) {
          makeRoom(peer);
        }
      }
      assertThat(retries).as("room at " + first).hasValue(1);
      flat.close();
    }
  }

  @Test
  void aRepeatedWaitForAGroupWaitsOnceInEachLane() {
    TestBus flat = new TestBus(1, TestBus.fanout(8));
    Peer slow = flat.peer("b", 2);
    Peer quick = flat.peer("c", 3);
    RemotePlan plan =
        flat.forwarder(0)
            .plan(null, "", "t", Map.of(), Map.of("g", List.<RemoteBus>of(slow, quick)));
    Runnable retry = retries::incrementAndGet;
    fill(flat, slow);
    for (int i = 0; i < 5; i++) {
      fill(flat, quick);
      assertThat(plan.mustWait(PRODUCER, retry)).isTrue();
      makeRoom(quick);
      quick.lane(0).resume();
    }
    assertThat(retries).hasValue(5);
    makeRoom(slow);
    assertThat(retries).hasValue(6);
    flat.close();
  }

  @Test
  void aLaneInATreeKeepsItsBoundWhenAGroupIsBehindIt() {
    Map<RemoteBus, Overflow> plain = new LinkedHashMap<>();
    for (Peer peer : List.of(b, c, d)) {
      plain.put(peer, Overflow.DROP_OLDEST);
      up(bus, peer);
    }
    RemotePlan plan =
        bus.forwarder(0).plan(null, "", "t", plain, Map.of("g", List.<RemoteBus>of(b, c, d)));
    bus.run();
    long largest = 0;
    int offered = 0;
    while (offered < 3_000 && !plan.mustWait(PRODUCER, retries::incrementAndGet)) {
      Delivery delivery = bus.delivery("t", PRODUCER, ++offered, "x".repeat(50));
      for (RouteTarget target : plan.targets(PRODUCER, offered)) {
        target.subscriber().offer(delivery, target.overflow());
      }
      largest = Math.max(largest, delivery.size());
      delivery.release();
    }
    assertThat(offered).as("the publisher waits").isLessThan(3_000);
    long bound = bus.config().queueBytes() + largest;
    for (Peer peer : List.of(b, c, d)) {
      assertThat(peer.lane(0).bytes()).isLessThanOrEqualTo(bound);
    }
    retries.set(0);
    for (Peer peer : List.of(b, c, d)) {
      makeRoom(peer);
    }
    assertThat(retries.get()).isPositive();
  }

  @Test
  void aGroupsFramesGoWhereThereIsRoomAlsoInATree() {
    TestBus two = new TestBus(1, TestBus.fanout(2));
    List<Peer> all = new ArrayList<>();
    Map<RemoteBus, Overflow> plain = new LinkedHashMap<>();
    for (int i = 2; i <= 5; i++) {
      Peer peer = two.peer("bus-" + i, i);
      up(two, peer);
      all.add(peer);
      plain.put(peer, Overflow.DROP_OLDEST);
    }
    RemotePlan plan =
        two.forwarder(0).plan(null, "", "t", plain, Map.of("g", List.<RemoteBus>copyOf(all)));
    two.run();
    Peer full = ((LanePath) plan.targets(PRODUCER, 0)[0].subscriber()).child();
    fill(two, full);
    for (int turn = 0; turn < all.size(); turn++) {
      assertThat(plan.mustWait(PRODUCER, retries::incrementAndGet)).isFalse();
      for (RouteTarget target : plan.targets(PRODUCER, turn)) {
        boolean isFull = ((LanePath) target.subscriber()).child() == full;
        assertThat(target.overflow()).isEqualTo(isFull ? Overflow.DROP_OLDEST : Overflow.BLOCK);
      }
    }
    two.close();
  }

  private static void up(TestBus at, Peer peer) {
    peer.lane(0).connect();
    EmbeddedChannel channel = at.opening().answer(peer.id().value(), 7);
    channel.writeInbound(LaneFrames.of(LaneFrames.number(PeerFrames.LANE_WELCOME, 0)));
    at.run();
    // The channel accepts nothing more from now on.
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
  }

  @Test
  void countsTheBusesThatAFrameIsFor() {
    RemotePlan trees = plan(null, b, c, d);
    assertThat(trees.targets(PRODUCER, 0).length).isPositive();
    assertThat(trees.reached()).isEqualTo(3);
    RemotePlan groups =
        bus.forwarder(0)
            .plan(
                null,
                "",
                "t",
                Map.of(b, Overflow.DROP_OLDEST),
                Map.of("g", List.<RemoteBus>of(c, d), "h", List.<RemoteBus>of(b)));
    assertThat(groups.targets(PRODUCER, 0)).hasSize(2);
    assertThat(groups.reached()).as("a bus for the group g, and b").isEqualTo(2);
  }

  @Test
  void aBusWithoutANumberIsReachedDirectly() {
    RemotePlan plan = plan(null, b, bus.peer("unnumbered", 0), c);
    int behind = 0;
    RouteTarget[] targets = plan.targets(PRODUCER, 0);
    for (RouteTarget target : targets) {
      behind += ((LanePath) target.subscriber()).behind().size();
    }
    assertThat(targets).hasSize(2);
    assertThat(behind).isEqualTo(1);
  }
}
