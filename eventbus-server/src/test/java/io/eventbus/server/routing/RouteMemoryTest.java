package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.ReachableHeap;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Remembered topics and routes: counted exactly, bounded, and forgotten. */
class RouteMemoryTest {
  private static final int TOPICS = 10_000;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final FakeLoops loops = new FakeLoops(2);
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private long now = -5 * SECOND;

  private Router router(SubscriptionIndex index) {
    return new Router(
        0,
        loops,
        index,
        allocator,
        new BusMemory(1 << 30),
        new LoopStats(),
        RemoteForwarder.NONE,
        () -> {});
  }

  private static List<RoutedSubscription> subscribe(
      SubscriptionIndex index, int subscribers, String filter, @Nullable String group) {
    List<RoutedSubscription> all = new ArrayList<>();
    for (int i = 0; i < subscribers; i++) {
      RoutedSubscription s =
          new RoutedSubscription(
              new FakeSubscriber(0), i, TopicFilter.parse(filter), group, Overflow.BLOCK);
      index.add(s);
      all.add(s);
    }
    return all;
  }

  /** Publishes an event; returns how many get it. */
  private static int publish(Router router, String topic) {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(topic, 1, false, "x"));
    PublishView view = SampleFrames.view(in);
    assertThat(router.select(in, view)).isNull();
    return router.deliver(in, view, 1, 2, 3);
  }

  private static void select(Router router, String topic) {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(topic, 1, false, "x"));
    assertThat(router.select(in, SampleFrames.view(in))).isNull();
  }

  /** Passes time as a loop with connections does. */
  private void pass(Router router, double seconds) {
    for (long end = now + (long) (seconds * SECOND); now < end; now += SECOND / 10) {
      router.trim(now);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "topics that nobody hears, 0, 0, 400",
    "one filter for all, 1000, 0, 400",
    "a subscriber for each, 0, 1, 800",
    "a filter for all and a subscriber for each, 100, 1, 1700",
    "a group for all and a subscriber for each, -100, 1, 1400"
  })
  void theCountIsWhatTheHeapGrowsBy(String kind, int common, int own, long max) {
    SubscriptionIndex index = new SubscriptionIndex(2, 1L << 30);
    subscribe(index, Math.abs(common), "a.*.>", common < 0 ? "workers" : null);
    for (int i = 0; i < TOPICS && own > 0; i++) {
      subscribe(index, own, "a.topic." + i, null);
    }
    Router router = router(index);
    long before = ReachableHeap.bytes(index, router);
    long counted = -index.routeBytes();
    for (int i = 0; i < TOPICS; i++) {
      select(router, "a.topic." + i);
    }
    long measured = (ReachableHeap.bytes(index, router) - before) / TOPICS;
    counted = (counted + index.routeBytes()) / TOPICS;
    System.out.println(kind + ": " + measured + " bytes of heap, counted as " + counted);
    assertThat(measured).isLessThan(max);
    assertThat(counted).isBetween((long) (measured * 0.9), (long) (measured * 1.5));
    router.close();
    assertThat(index.routeBytes()).isZero();
  }

  @Test
  void manySubscribersOfManyTopicsHaveOneRoute() {
    SubscriptionIndex index = new SubscriptionIndex(2);
    subscribe(index, 1000, "prices.>", null);
    Router router = router(index);
    for (int i = 0; i < 100; i++) {
      select(router, "prices." + i);
    }
    assertThat(index.routeCount()).isEqualTo(1);
    Router other = router(index);
    select(other, "prices.0");
    assertThat(index.routeCount()).as("shared by the loops").isEqualTo(1);
  }

  @Test
  void eventsReachAllWithoutRoomForRoutes() {
    long limit = 1 << 20;
    SubscriptionIndex index = new SubscriptionIndex(2, limit);
    subscribe(index, 500, "prices.>", null);
    for (int i = 0; i < 1000; i++) {
      subscribe(index, 1, "prices." + i, null);
    }
    Router router = router(index);
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 1000; i++) {
        assertThat(publish(router, "prices." + i)).isEqualTo(501);
        assertThat(index.routeBytes()).isLessThanOrEqualTo(limit);
      }
    }
    assertThat(index.routeCount()).as("as many as there is room for").isGreaterThan(50);
    pass(router, 3);
    assertThat(index.routeCount()).isZero();
  }

  @Test
  void aBlockedLoopDoesNotDelayOtherLoops() {
    SubscriptionIndex index = new SubscriptionIndex(2, 100_000);
    subscribe(index, 500, "prices.>", null);
    for (int i = 0; i < 100; i++) {
      subscribe(index, 1, "prices." + i, null);
    }
    Router greedy = router(index);
    for (int i = 0; i < 50; i++) {
      select(greedy, "prices." + i);
    }
    Router other = router(index);
    for (int i = 50; i < 100; i++) {
      assertThat(publish(other, "prices." + i)).isEqualTo(501);
    }
  }

  @Test
  void routesGoWithTheirSubscribersAndTheCountsStay() {
    SubscriptionIndex index = new SubscriptionIndex(2);
    List<RoutedSubscription> subscriptions = subscribe(index, 10, "prices.>", null);
    Router router = router(index);
    long empty = index.routeBytes();
    for (int i = 0; i < 1000; i++) {
      publish(router, "prices." + i);
    }
    pass(router, 0.5);
    subscriptions.forEach(index::remove);
    assertThat(index.routeCount()).isEqualTo(1);
    pass(router, 3);
    assertThat(index.routeCount()).isZero();
    assertThat(index.routeBytes()).as("the topics are remembered").isGreaterThan(empty);
    assertThat(router.topics())
        .hasSize(1000)
        .allMatch(t -> t.events() == 1 && t.deliveries() == 10);
    assertThat(publish(router, "prices.1")).isZero();
    subscribe(index, 1, "prices.>", null);
    assertThat(publish(router, "prices.1")).isEqualTo(1);
  }

  @Test
  void aRouteThatIsNotUsedGoesAndOneThatIsUsedStays() {
    SubscriptionIndex index = new SubscriptionIndex(2);
    subscribe(index, 1, "used", null);
    subscribe(index, 1, "unused", null);
    Router router = router(index);
    publish(router, "unused");
    publish(router, "used");
    for (int i = 0; i < 30; i++) {
      publish(router, "used");
      pass(router, 0.1);
    }
    assertThat(index.routeCount()).isEqualTo(1);
    assertThat(publish(router, "unused")).isEqualTo(1);
    assertThat(index.routeCount()).isEqualTo(2);
    now += 5 * SECOND;
    for (int i = 0; i < 3; i++, now += SECOND) {
      router.trim(now);
    }
    assertThat(index.routeCount()).as("an idle loop looks once a second").isZero();
  }
}
