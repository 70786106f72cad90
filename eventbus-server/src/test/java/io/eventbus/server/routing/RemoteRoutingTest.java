package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RemoteBus;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Routing for peers, and of peers' frames. */
class RemoteRoutingTest {
  private static final long PRODUCER = 42;

  private final FakeLoops loops = new FakeLoops(3);
  private final SubscriptionIndex index = new SubscriptionIndex(3);
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final FakeSubscriber way = new FakeSubscriber(2);
  private final List<String> planned = new ArrayList<>();
  private long planBytes;
  private int closed;

  /** Peer, with a lane to it that loop 2 owns. */
  private final class Remote implements RemoteForwarder, RemotePlan {
    @Override
    public boolean mustWait(Runnable retry) {
      return false;
    }

    @Override
    public RemotePlan plan(
        @Nullable RemotePlan before,
        String account,
        String topic,
        Map<RemoteBus, Overflow> plain,
        Map<String, List<RemoteBus>> groups) {
      planned.add(topic + " " + plain.values() + " " + groups.keySet());
      return this;
    }

    @Override
    public boolean mustWait(long producer, Runnable retry) {
      if (way.isFull()) {
        way.whenNotFull(retry);
      }
      return way.isFull();
    }

    @Override
    public int loop(long producer) {
      return 2;
    }

    @Override
    public int reached() {
      return 0;
    }

    @Override
    public RouteTarget[] targets(long producer, int turn) {
      return new RouteTarget[] {new RouteTarget(way, Overflow.BLOCK)};
    }

    @Override
    public long heapBytes() {
      return planBytes;
    }

    @Override
    public void close() {
      closed++;
    }
  }

  private final Router router =
      new Router(0, loops, index, allocator, memory, new LoopStats(), new Remote(), () -> {});
  private final AtomicInteger retries = new AtomicInteger();
  private final FakeSubscriber here = new FakeSubscriber(0);
  private final FakeSubscriber there = new FakeSubscriber(1);
  private final FakeSubscriber alsoThere = new FakeSubscriber(1);
  private final FakeSubscriber elsewhere = new FakeSubscriber(2);
  private long nextId = 1;

  @AfterEach
  void everyReferenceIsGivenBack() {
    router.flush();
    loops.runAll();
    router.close();
    assertThat(closed).isEqualTo(planned.size());
    assertThat(index.routeBytes()).isZero();
    assertThat(memory.used()).isZero();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }

  private RoutedSubscription subscribe(
      FakeSubscriber who, String filter, @Nullable String group, Overflow overflow) {
    RoutedSubscription s =
        new RoutedSubscription(who, nextId++, TopicFilter.parse(filter), group, overflow);
    index.add(s);
    return s;
  }

  private RoutedSubscription subscribe(FakeSubscriber who, String filter) {
    return subscribe(who, filter, null, Overflow.BLOCK);
  }

  @Test
  void aPlanThatHasGrownIsCountedAndTopicsGoWhereItIsTooMuch() {
    index.add(
        new RoutedSubscription(
            new RemoteBus() {}, 0, TopicFilter.parse("t.*"), null, Overflow.BLOCK));
    planBytes = 1_000;
    for (int i = 0; i < 100; i++) {
      publish("t." + i, 1, "x");
    }
    long counted = index.routeBytes();
    assertThat(counted).isGreaterThan(100_000);
    planBytes = 2_000;
    long second = TimeUnit.SECONDS.toNanos(1);
    for (int i = 0; i < 4; i++) {
      router.trim(i * second);
    }
    assertThat(index.routeBytes()).isBetween(counted + 99_000, counted + 101_000);
    assertThat(router.topics()).hasSize(100);
    planBytes = index.topicLimit() / 10;
    for (int i = 4; i < 8; i++) {
      router.trim(i * second);
    }
    assertThat(router.topics()).hasSizeBetween(5, 10);
    planBytes = 0;
  }

  private void publish(String topic, long sequence, String payload) {
    ByteBuffer bytes = ByteBuffer.wrap(SampleFrames.publish(topic, sequence, false, payload));
    PublishView view = SampleFrames.view(bytes);
    assertThat(router.select(bytes, view)).isNull();
    assertThat(router.mustWait(PRODUCER, retries::incrementAndGet)).isFalse();
    router.deliver(bytes, view, PRODUCER, 5, 6);
  }

  /** Returns a whole Deliver frame as a peer creates it. */
  private byte[] frame(String topic, long sequence, String... payloads) {
    List<SampleFrames.Event> events = new ArrayList<>();
    for (String payload : payloads) {
      events.add(new SampleFrames.Event(null, payload));
    }
    Delivery delivery =
        SampleFrames.delivery(allocator, memory, topic, PRODUCER, sequence, 1, events);
    byte[] bytes = new byte[delivery.frameBytes()];
    delivery.frame().get(bytes);
    delivery.release();
    return bytes;
  }

  @Test
  void ownEventsOfAPeerAreDelivered() {
    subscribe(here, "$SYS.>");
    subscribe(there, ">");
    take(frame("$SYS.bus.b.stats", 1, "x"), true, List.of());
    router.flush();
    loops.runAll();
    assertThat(here.got).hasSize(1);
    assertThat(there.got).isEmpty();
  }

  @Test
  void eventsLeaveOnceForAPeer() {
    RoutedSubscription far =
        new RoutedSubscription(
            new RemoteBus() {}, 0, TopicFilter.parse("a.*"), null, Overflow.DROP_OLDEST);
    RoutedSubscription farGroup =
        new RoutedSubscription(
            new RemoteBus() {}, 0, TopicFilter.parse("a.b"), "g", Overflow.BLOCK);
    index.add(far);
    index.add(farGroup);
    assertThat(index.size()).as("subscriptions of clients").isZero();
    subscribe(here, "a.b");
    for (int i = 0; i < 10; i++) {
      publish("a.b", i + 1, "x");
      publish("b.b", i + 1, "x");
    }
    router.flush();
    loops.runAll();
    assertThat(way.got).hasSize(10);
    assertThat(here.got).hasSize(10);
    assertThat(planned).containsExactly("a.b [DROP_OLDEST] [g]");
    way.full(true);
    in = ByteBuffer.wrap(SampleFrames.publish("a.b", 11, false, "x"));
    assertThat(router.select(in, SampleFrames.view(in))).isNull();
    assertThat(router.mustWait(PRODUCER, retries::incrementAndGet)).isTrue();
    way.full(false);
    assertThat(retries).hasValue(1);
    // A member here comes first.
    subscribe(there, "a.b", "g", Overflow.BLOCK);
    publish("a.b", 11, "x");
    assertThat(planned).containsExactly("a.b [DROP_OLDEST] [g]", "a.b [DROP_OLDEST] []");
    index.remove(far);
    index.remove(farGroup);
    publish("a.b", 12, "x");
    router.flush();
    loops.runAll();
    assertThat(way.got).hasSize(11);
    assertThat(there.got).hasSize(2);
  }

  @Test
  void peerFramesAreDeliveredUnchanged() {
    subscribe(here, "a.b");
    subscribe(there, "a.*");
    RoutedSubscription member = subscribe(elsewhere, "a.b", "g", Overflow.BLOCK);
    subscribe(alsoThere, "a.b", "other", Overflow.BLOCK);
    byte[] frame = frame("a.b", 7, "x", "y");
    take(frame, true, List.of("g"));
    router.flush();
    loops.runAll();
    assertThat(here.got).hasSize(1);
    assertThat(there.got).hasSize(1);
    assertThat(elsewhere.got).hasSize(1);
    assertThat(elsewhere.got.get(0).groups()).containsExactly(member.id());
    assertThat(alsoThere.got).as("the group was not named").isEmpty();
    assertThat(here.got.get(0).sequence()).isEqualTo(7);
    assertThat(take(frame, false, List.of("none"))).isEqualTo(1);
    assertThat(here.got).hasSize(1);
    here.full(true);
    assertThat(selectForwarded(frame)).isNull();
    assertThat(router.mustWait(true, List.of(), retries::incrementAndGet)).isTrue();
    assertThat(router.mustWait(false, List.of(), retries::incrementAndGet)).isFalse();
  }

  private final DeliverView forwarded = new DeliverView();
  private ByteBuffer in = ByteBuffer.allocate(0);

  private @Nullable String selectForwarded(byte[] frame) {
    in = ByteBuffer.wrap(frame);
    FrameCursor cursor = new FrameCursor().wrap(in, 0, frame.length);
    assertThat(cursor.next()).isTrue();
    forwarded.readOneBlock(in, cursor.bodyStart(), cursor.bodyEnd());
    return router.select("", in, forwarded);
  }

  private int take(byte[] frame, boolean plain, List<String> groups) {
    assertThat(selectForwarded(frame)).isNull();
    assertThat(router.mustWait(plain, groups, retries::incrementAndGet)).isFalse();
    return router.deliver(in, 0, frame.length, forwarded, plain, groups, 1, 0, new RouteTarget[0]);
  }
}
