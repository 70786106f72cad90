package io.eventbus.server.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.RefusingAllocator;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InternalClientTest {
  private static final long PRODUCER = 42;
  private static final String STATS = "$SYS.bus.a.stats";

  private final FakeLoops loops = new FakeLoops(2);
  private final SubscriptionIndex index = new SubscriptionIndex(2);
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final RefusingAllocator refusing = new RefusingAllocator(allocator);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final LongAdder dropped = new LongAdder();
  private final FakeSubscriber here = new FakeSubscriber(0);
  private final FakeSubscriber there = new FakeSubscriber(1);
  private final Router router =
      new Router(
          0, loops, index, refusing, memory, new LoopStats(), RemoteForwarder.NONE, () -> {});
  private final InternalClient client =
      new InternalClient(
          loops.executor(0),
          router,
          () -> PRODUCER,
          Clock.fixed(Instant.ofEpochSecond(7), ZoneOffset.UTC),
          dropped,
          1_000);
  private long nextId = 1;

  @BeforeEach
  void thereIsMemory() {
    refusing.allow(Integer.MAX_VALUE);
  }

  @AfterEach
  void everyReferenceIsGivenBack() {
    runAll();
    router.close();
    assertThat(memory.used()).isZero();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }

  private void subscribe(
      FakeSubscriber who, String filter, @Nullable String group, Overflow overflow) {
    index.add(new RoutedSubscription(who, nextId++, TopicFilter.parse(filter), group, overflow));
  }

  private void publish(String topic, String payload) {
    client.publish(index, topic, payload.getBytes(StandardCharsets.UTF_8));
  }

  private void runAll() {
    loops.runAll();
    router.flush();
    loops.runAll();
  }

  @Test
  void publishesInOrderToClientsOfEveryLoopAndToOneOfAGroup() {
    FakeSubscriber member = new FakeSubscriber(1);
    subscribe(here, "$SYS.>", null, Overflow.BLOCK);
    subscribe(there, STATS, null, Overflow.DROP_OLDEST);
    subscribe(member, STATS, "g", Overflow.BLOCK);
    publish(STATS, "1");
    publish("$SYS.bus.a.events", "e");
    publish(STATS, "2");
    assertThat(here.got).as("not on the thread that publishes").isEmpty();
    runAll();
    assertThat(here.got)
        .extracting(d -> d.topic() + " " + d.sequence() + " " + d.payloads())
        .containsExactly(STATS + " 1 [1]", "$SYS.bus.a.events 1 [e]", STATS + " 2 [2]");
    assertThat(here.got)
        .allMatch(
            d -> d.producer() == PRODUCER && d.receivedAt() == 7_000_000 && d.groups().isEmpty());
    assertThat(there.got).extracting(SampleFrames.Delivered::sequence).containsExactly(1L, 2L);
    assertThat(member.got).hasSize(2);
    assertThat(dropped.sum()).isZero();
  }

  @Test
  void doesNotWaitForAFullSubscriber() {
    subscribe(here, STATS, null, Overflow.BLOCK);
    subscribe(there, STATS, null, Overflow.DROP_OLDEST);
    here.full(true);
    publish(STATS, "1");
    publish(STATS, "2");
    runAll();
    assertThat(dropped.sum()).isEqualTo(2);
    assertThat(there.got).isEmpty();
    here.full(false);
    runAll();
    assertThat(here.got).as("dropped is dropped").isEmpty();
    publish(STATS, "3");
    runAll();
    assertThat(here.got).extracting(SampleFrames.Delivered::sequence).containsExactly(1L);
    assertThat(there.got).hasSize(1);
    assertThat(dropped.sum()).isEqualTo(2);
  }

  private static String topic(int number) {
    return "$SYS.services.s" + number;
  }

  @Test
  void theTopicsOfAllAccountsShareTheRoom() {
    subscribe(here, "$SYS.services.*", null, Overflow.DROP_OLDEST);
    // Each takes about 140 of 1,000 bytes.
    for (int i = 0; i < 5; i++) {
      publish(topic(i), "1");
    }
    publish(topic(0), "2");
    runAll();
    assertThat(here.got).extracting(SampleFrames.Delivered::sequence).contains(2L);
    here.got.clear();
    client.publish(new SubscriptionIndex(2), topic(0), new byte[1]);
    publish(topic(0), "3");
    publish(topic(1), "2");
    runAll();
    assertThat(here.got)
        .as("known, and forgotten: a number that was not given before")
        .extracting(SampleFrames.Delivered::sequence)
        .containsExactly(3L, 7_000_001L);
  }

  @Test
  void eventsWaitingForTheLoopAreBounded() {
    subscribe(here, STATS, null, Overflow.DROP_OLDEST);
    byte[] payload = new byte[100_000];
    for (int i = 0; i < 100; i++) {
      client.publish(index, STATS, payload);
    }
    runAll();
    assertThat(here.got).hasSize(10);
    assertThat(dropped.sum()).isEqualTo(90);
    client.publish(index, STATS, payload);
    runAll();
    assertThat(here.got).hasSize(11);
  }

  @Test
  void aLoopThatHasEndedDrops() {
    loops.end();
    publish(STATS, "1");
    assertThat(dropped.sum()).isEqualTo(1);
  }

  @Test
  void isHeardWhileClientsWaitForMemory() {
    subscribe(here, ">", null, Overflow.BLOCK);
    subscribe(here, STATS, null, Overflow.DROP_OLDEST);
    memory.reserve(2L << 30);
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish("t", 1, false, "x"));
    assertThat(router.select(in, SampleFrames.view(in))).isNull();
    assertThat(router.mustWait(1, () -> {})).isTrue();
    publish(STATS, "1");
    runAll();
    assertThat(here.got).extracting(SampleFrames.Delivered::topic).containsExactly(STATS);
    memory.release(2L << 30);
  }

  @Test
  void memoryThatIsRefusedCostsOneEvent() {
    subscribe(here, STATS, null, Overflow.DROP_OLDEST);
    refusing.allow(0);
    publish(STATS, "1");
    runAll();
    assertThat(dropped.sum()).isEqualTo(1);
    refusing.allow(100);
    publish(STATS, "2");
    runAll();
    assertThat(here.got).hasSize(1);
  }

  @Test
  void aClientMayNotPublishWhereTheBusHas() {
    publish(STATS, "1");
    runAll();
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(STATS, 1, false, "forged"));
    PublishView view = SampleFrames.view(in);
    assertThat(router.select(in, view)).contains("system");
  }
}
