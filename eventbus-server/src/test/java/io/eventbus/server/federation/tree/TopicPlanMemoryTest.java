package io.eventbus.server.federation.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.RemotePlan;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.ReachableHeap;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.subscription.RemoteBus;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory of plans and trees: counted correctly, shared, and bounded. */
class TopicPlanMemoryTest {
  private static final int FANOUT = 8;

  private static Map<RemoteBus, Overflow> wanted(TestBus bus, int buses) {
    Map<RemoteBus, Overflow> wanted = new LinkedHashMap<>();
    for (int i = 0; i < buses; i++) {
      wanted.put(bus.peer("bus-" + i, i + 2), Overflow.BLOCK);
    }
    return wanted;
  }

  private static void use(TestBus bus, RemotePlan plan, int producers) {
    for (long p = 1; p <= producers; p++) {
      assertThat(plan.targets(p, 1)).isNotEmpty();
    }
    bus.run();
    assertThat(plan.mustWait(1, () -> {})).isFalse();
  }

  private static RemotePlan plan(
      RemoteForwarder forwarder, int topic, Map<RemoteBus, Overflow> buses, boolean group) {
    Map<String, List<RemoteBus>> groups =
        group ? Map.of("workers", List.copyOf(buses.keySet())) : Map.of();
    return forwarder.plan(null, "", "user." + topic + ".inbox", buses, groups);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, false, 200",
    "8, 1, false, 200",
    "8, 1, true, 500",
    "40, 1, false, 300",
    "40, 1, true, 800",
    "64, 10, true, 800"
  })
  void topicsThatTheSameBusesWantShareTheirTrees(
      int buses, int producers, boolean group, long maximum) {
    int topics = 4_000;
    TestBus bus = new TestBus(2, TestBus.fanout(FANOUT));
    Map<RemoteBus, Overflow> wanted = wanted(bus, buses);
    List<RemotePlan> plans = new ArrayList<>(topics);
    RemoteForwarder forwarder = bus.forwarder(0);
    long before = ReachableHeap.bytes(bus, wanted, plans);
    for (int i = 0; i < topics; i++) {
      RemotePlan plan = plan(forwarder, i, wanted, group);
      use(bus, plan, producers);
      plans.add(plan);
    }
    compare(plans, ReachableHeap.bytes(bus, wanted, plans) - before, maximum);
    plans.subList(1, topics).forEach(RemotePlan::close);
    assertThat(plans.get(0).heapBytes()).as("all that they shared").isGreaterThan(1_000);
    bus.close();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, false, 1500",
    "8, 1, false, 4000",
    "8, 1, true, 4000",
    "40, 1, false, 20000",
    "40, 100, true, 400000"
  })
  void countsUnsharedPlans(int buses, int producers, boolean group, long maximum) {
    int each = producers > 1 ? 20 : 200;
    TestBus bus = new TestBus(2, TestBus.fanout(FANOUT));
    List<RemotePlan> plans = new ArrayList<>();
    List<Map<RemoteBus, Overflow>> all = new ArrayList<>();
    for (int i = 0; i < each; i++) {
      Map<RemoteBus, Overflow> wanted = new LinkedHashMap<>();
      for (int b = 0; b < buses; b++) {
        // Another bus that no other topic has, in place of the first.
        int number = b == 0 ? 1_000 + i : b;
        wanted.put(bus.peer("bus-" + number, number + 2), Overflow.BLOCK);
      }
      all.add(wanted);
    }
    bus.run();
    RemoteForwarder forwarder = bus.forwarder(0);
    long before = ReachableHeap.bytes(bus, all, plans);
    for (int i = 0; i < each; i++) {
      RemotePlan plan = plan(forwarder, i, all.get(i), group);
      use(bus, plan, producers);
      plans.add(plan);
    }
    compare(plans, ReachableHeap.bytes(bus, all, plans) - before, maximum);
    bus.close();
  }

  private static void compare(List<RemotePlan> plans, long grown, long maximum) {
    long measured = grown / plans.size();
    long counted = plans.stream().mapToLong(RemotePlan::heapBytes).sum() / plans.size();
    System.out.println("a plan: " + measured + " bytes of heap, counted as " + counted);
    assertThat(measured).isLessThan(maximum);
    assertThat(counted).isBetween((long) (measured * 0.8), (long) (measured * 1.6));
  }

  @Test
  void treesGoWithTheLastTopicThatUsesThem() {
    TestBus bus = new TestBus(1, TestBus.fanout(FANOUT));
    TreeTable table = new TreeTable(bus.loop(0));
    Map<RemoteBus, Overflow> some = wanted(bus, 3);
    BusTrees first = table.acquire("", some);
    assertThat(table.acquire("", new LinkedHashMap<>(some))).isSameAs(first);
    Map<RemoteBus, Overflow> otherPolicy = new LinkedHashMap<>(some);
    otherPolicy.replaceAll((peer, overflow) -> Overflow.CONFLATE);
    assertThat(table.acquire("", otherPolicy)).isNotSameAs(first);
    // A restarted bus has another number for its relays.
    bus.peer("bus-1", 77);
    assertThat(table.acquire("", some)).isNotSameAs(first);
    assertThat(table.size()).isEqualTo(3);
    BusTrees ofAccount = table.acquire("acme", some);
    assertThat(ofAccount).as("paths name the account").isNotSameAs(first);
    table.release(ofAccount);
    table.release(first);
    assertThat(table.size()).isEqualTo(3);
    table.release(first);
    assertThat(table.size()).isEqualTo(2);
    bus.close();
  }

  @Test
  void boundsThePlansOfTopicsWithDistinctBuses() {
    long limit = 1 << 20;
    SubscriptionIndex index = new SubscriptionIndex(1, limit);
    TestBus bus = new TestBus(1, TestBus.fanout(FANOUT), 1 << 30, index);
    for (int i = 0; i < 20; i++) {
      Peer peer = bus.peer("bus-" + i, i + 2);
      // Each topic has other interested buses than the next one.
      index.add(subscription(peer, "user." + "*.".repeat(i % 3 + 1) + ">"));
      for (int topic = 0; topic < 1_000; topic += i + 1) {
        index.add(subscription(peer, "user." + topic + ".inbox"));
      }
    }
    Router router = bus.routers.get(0);
    bus.startLatch().open();
    for (int topic = 0; topic < 20_000; topic++) {
      publish(router, "user." + topic % 5_000 + ".inbox", topic);
      bus.run();
      if (topic % 100 == 0) {
        router.trim(topic * 10_000_000L);
        assertThat(index.routeBytes()).isLessThanOrEqualTo(limit);
      }
    }
    assertThat(index.topics()).as("it remembers what it can").isGreaterThan(50);
    router.close();
    assertThat(index.routeBytes()).isZero();
    bus.close();
  }

  private static RoutedSubscription subscription(Peer peer, String filter) {
    return new RoutedSubscription(peer, 0, TopicFilter.parse(filter), null, Overflow.BLOCK);
  }

  private static void publish(Router router, String topic, long producer) {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(topic, 1, false, "x"));
    PublishView view = SampleFrames.view(in);
    assertThat(router.select(in, view)).isNull();
    router.mustWait(producer, () -> {});
    router.deliver(in, view, producer, 2, 3);
  }
}
