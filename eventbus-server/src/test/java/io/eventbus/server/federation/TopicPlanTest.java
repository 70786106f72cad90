package io.eventbus.server.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.RemoteBus;
import io.eventbus.server.routing.RemotePlan;
import io.eventbus.server.routing.Target;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When the publishers of a topic wait because its ways change. */
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
    return bus.loop(0).plan(before, "t", plain, Map.of());
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
  void aPlanWithTheSameWaysWaitsForNothing() {
    RemotePlan first = plan(null, b, c);
    assertThat(mustWait(first)).isFalse();
    sent(b);
    sent(c);
    assertThat(mustWait(plan(first, c, b))).isFalse();
  }

  @Test
  void otherWaysWaitForThoseThatTheOldOnesLedTo() {
    RemotePlan first = plan(null, b, c);
    assertThat(mustWait(first)).isFalse();
    sent(c);
    // Nobody wants the topic there.
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
  void nobodyKnowsWhatWentBeforeTheFirstPlan() {
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
      RemotePlan plan = three.loop(at).plan(null, "t", plain, Map.of());
      for (long producer = 1; producer < 100; producer++) {
        for (int loop = 0; loop < 3; loop++) {
          assertThat(three.federation.leavesOn(loop, producer))
              .isEqualTo(plan.loop(producer) == loop);
        }
      }
    }
    three.close();
  }

  @Test
  void aBusWithoutANumberIsReachedDirectly() {
    RemotePlan plan = plan(null, b, bus.peer("unnumbered", 0), c);
    int behind = 0;
    Target[] targets = plan.targets(PRODUCER, 0);
    for (Target target : targets) {
      behind += ((LanePath) target.subscriber()).behind().size();
    }
    assertThat(targets).hasSize(2);
    assertThat(behind).isEqualTo(1);
  }
}
