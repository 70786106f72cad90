package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.RefusingAllocator;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RouterTest {
  private static final long PRODUCER = 42;

  private final FakeLoops loops = new FakeLoops(3);
  private final SubscriptionIndex index = new SubscriptionIndex(3);
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final RefusingAllocator refusing = new RefusingAllocator(allocator);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final LoopStats stats = new LoopStats();
  private final AtomicInteger flushes = new AtomicInteger();
  private final Router router = router(allocator);
  private final AtomicInteger retries = new AtomicInteger();
  private final FakeSubscriber here = new FakeSubscriber(0);
  private final FakeSubscriber there = new FakeSubscriber(1);
  private final FakeSubscriber alsoThere = new FakeSubscriber(1);
  private final FakeSubscriber elsewhere = new FakeSubscriber(2);
  private long nextId = 1;

  private Router router(ByteBufAllocator from) {
    return new Router(
        0, loops, index, from, memory, stats, RemoteForwarder.NONE, flushes::incrementAndGet);
  }

  @AfterEach
  void everyReferenceIsGivenBack() {
    router.flush();
    loops.runAll();
    router.close();
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

  private boolean publish(String topic, long sequence, String... payloads) {
    return publish(router, topic, sequence, payloads);
  }

  /** Publishes as a session does; false if the publisher has to wait. */
  private boolean publish(Router router, String topic, long sequence, String... payloads) {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(topic, sequence, false, payloads));
    PublishView view = SampleFrames.view(in);
    assertThat(router.select(in, view)).isNull();
    if (router.mustWait(PRODUCER, retries::incrementAndGet)) {
      return false;
    }
    router.deliver(in, view, PRODUCER, 5, 6);
    return true;
  }

  @Test
  void countsThoseThatAnEventIsQueuedFor() {
    assertThat(publish("a.b", 1, "x")).isTrue();
    assertThat(router.receivers()).isZero();
    subscribe(here, "a.b");
    subscribe(here, "a.>");
    subscribe(there, "a.b");
    subscribe(there, "a.b", "g", Overflow.BLOCK);
    subscribe(elsewhere, "a.b", "h", Overflow.BLOCK);
    subscribe(alsoThere, "a.b", "h", Overflow.BLOCK);
    assertThat(publish("a.b", 2, "x", "y")).isTrue();
    assertThat(router.receivers())
        .as("two connections, one of them a member of a group too, and a member of the other group")
        .isEqualTo(3);
    assertThat(publish("b", 1, "x")).isTrue();
    assertThat(router.receivers()).isZero();
    runAll();
  }

  private void runAll() {
    router.flush();
    loops.runAll();
  }

  @Test
  void deliversWhatWasPublishedInOrderOnEveryLoop() {
    for (FakeSubscriber s : List.of(here, there, elsewhere)) {
      subscribe(s, "a.b");
    }
    for (int i = 1; i <= 100; i++) {
      assertThat(publish("a.b", i, "p" + i)).isTrue();
      if (i % 10 == 0) {
        router.flush();
      }
    }
    runAll();
    for (FakeSubscriber s : List.of(here, there, elsewhere)) {
      assertThat(s.got).hasSize(100);
      for (int i = 1; i <= 100; i++) {
        SampleFrames.Delivered d = s.got.get(i - 1);
        assertThat(d.topic()).isEqualTo("a.b");
        assertThat(d.producer()).isEqualTo(PRODUCER);
        assertThat(d.sequence()).isEqualTo(i);
        assertThat(d.receivedAt()).isEqualTo(5);
        assertThat(d.payloads()).containsExactly("p" + i);
        assertThat(d.groups()).isEmpty();
      }
    }
    assertThat(stats.eventsIn.get()).isEqualTo(100);
    assertThat(router.topics()).containsExactly(new TopicCount("", "a.b", 100, 300));
  }

  @Test
  void submitsOneTaskForEachLoopAndCycle() {
    subscribe(there, "t");
    subscribe(alsoThere, "t");
    subscribe(elsewhere, "u");
    for (int i = 1; i <= 10; i++) {
      publish("t", i, "x");
    }
    assertThat(flushes).as("asked once for each loop that something is for").hasValue(1);
    assertThat(loops.submitted(1)).isZero();
    publish("u", 1, "x");
    assertThat(flushes).hasValue(2);
    router.flush();
    router.flush();
    assertThat(loops.submitted(0)).isZero();
    assertThat(loops.submitted(1)).isEqualTo(1);
    assertThat(loops.submitted(2)).isEqualTo(1);
    assertThat(there.got).isEmpty();
    loops.runAll();
    assertThat(there.got).hasSize(10).isEqualTo(alsoThere.got);
  }

  @Test
  void whatIsForThousandsOfTheOwnLoopComesLaterAndInOrder() {
    subscribe(here, ">");
    for (int i = 0; i < 600; i++) {
      subscribe(new FakeSubscriber(0), "crowd");
    }
    publish("few", 1, "at once");
    assertThat(here.got).hasSize(1);
    publish("crowd", 2, "in parts");
    publish("few", 3, "behind it");
    assertThat(here.got).hasSize(1);
    router.flush();
    loops.runOne(0);
    publish("few", 4, "behind it, too");
    runAll();
    publish("few", 5, "at once");
    assertThat(here.got)
        .extracting(SampleFrames.Delivered::sequence)
        .containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void aConnectionGetsAnEventOnceUnderTheStrictestPolicy() {
    subscribe(there, "a.*", null, Overflow.DROP_OLDEST);
    subscribe(there, "a.b", null, Overflow.CONFLATE);
    subscribe(there, ">", null, Overflow.DISCONNECT);
    publish("a.b", 1, "x");
    subscribe(there, "*.b", null, Overflow.BLOCK);
    publish("a.b", 2, "y");
    runAll();
    assertThat(there.got).extracting(SampleFrames.Delivered::sequence).containsExactly(1L, 2L);
    assertThat(there.policies).containsExactly(Overflow.DISCONNECT, Overflow.BLOCK);
  }

  @Test
  void theIndexIsSeenAtOnce() {
    publish("a", 1, "nobody");
    RoutedSubscription s = subscribe(here, "a");
    publish("a", 2, "x");
    index.remove(s);
    publish("a", 3, "nobody");
    RoutedSubscription wild = subscribe(here, "*");
    publish("a", 4, "y");
    index.remove(wild);
    publish("a", 5, "nobody");
    assertThat(here.got).extracting(SampleFrames.Delivered::sequence).containsExactly(2L, 4L);
  }

  @Test
  void anIllegalTopicIsNotSelected() {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish("a..b", 1, false, "x"));
    assertThat(router.select(in, SampleFrames.view(in))).contains("a..b").contains("empty token");
    ByteBuffer system = ByteBuffer.wrap(SampleFrames.publish("$SYS.x", 1, false, "x"));
    assertThat(router.select(system, SampleFrames.view(system))).contains("system");
    assertThat(router.topics()).isEmpty();
    assertThatThrownBy(() -> router.deliver(in, SampleFrames.view(in), 1, 1, 1))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void onlyTheBusItselfPublishesToTopicsOfTheSystem() {
    subscribe(here, "$SYS.>");
    subscribe(there, ">");
    subscribe(there, "*.x");
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish("$SYS.x", 1, false, "x"));
    PublishView view = SampleFrames.view(in);
    assertThat(router.selectAny(index, in, view)).isNull();
    router.deliver(in, view, PRODUCER, 5, 6);
    runAll();
    assertThat(here.got).extracting(SampleFrames.Delivered::topic).containsExactly("$SYS.x");
    assertThat(there.got).as("a wildcard first").isEmpty();
    assertThat(router.select(in, view)).as("the topic is remembered").contains("system");
    ByteBuffer wrong = ByteBuffer.wrap(SampleFrames.publish("$SYS.*", 1, false, "x"));
    assertThat(router.selectAny(index, wrong, SampleFrames.view(wrong))).contains("wildcard");
  }

  @Test
  void aGroupTakesTurns() {
    for (FakeSubscriber s : List.of(here, there, elsewhere)) {
      subscribe(s, "jobs.>", "workers", Overflow.BLOCK);
    }
    for (int i = 1; i <= 30; i++) {
      publish("jobs.a", i, "x");
    }
    runAll();
    List<Long> all = new ArrayList<>();
    long id = 1;
    for (FakeSubscriber s : List.of(here, there, elsewhere)) {
      assertThat(s.got).hasSize(10);
      assertThat(s.got).extracting(SampleFrames.Delivered::groups).containsOnly(List.of(id++));
      s.got.forEach(d -> all.add(d.sequence()));
    }
    assertThat(all).doesNotHaveDuplicates().hasSize(30);
  }

  @Test
  void turnsDoNotFallIntoARhythmWithOtherTopics() {
    for (FakeSubscriber s : List.of(here, there)) {
      subscribe(s, "j", "g", Overflow.BLOCK);
      subscribe(s, "k", "h", Overflow.BLOCK);
    }
    for (int i = 1; i <= 10; i++) {
      publish("j", i, "x");
      publish("k", i, "x");
    }
    runAll();
    for (FakeSubscriber s : List.of(here, there)) {
      assertThat(s.got.stream().filter(d -> d.topic().equals("j"))).hasSize(5);
      assertThat(s.got.stream().filter(d -> d.topic().equals("k"))).hasSize(5);
    }
  }

  @Test
  void topicsOfOneEventAreSharedEvenly() {
    subscribe(here, "jobs.*", "g", Overflow.BLOCK);
    subscribe(there, "jobs.*", "g", Overflow.BLOCK);
    for (int i = 1; i <= 100; i++) {
      publish("jobs." + i, 1, "x");
    }
    runAll();
    assertThat(here.got).hasSize(50);
    assertThat(there.got).hasSize(50);
  }

  @Test
  void aGroupPrefersThoseWithRoom() {
    subscribe(here, "j", "g", Overflow.BLOCK);
    subscribe(there, "j", "g", Overflow.BLOCK);
    subscribe(elsewhere, "j", "g", Overflow.BLOCK);
    here.full(true);
    elsewhere.full(true);
    for (int i = 1; i <= 9; i++) {
      assertThat(publish("j", i, "x")).isTrue();
    }
    runAll();
    assertThat(there.got).hasSize(9);
    assertThat(here.got).isEmpty();
  }

  @Test
  void aMemberThatNobodyWaitsForIsSparedAllTheSame() {
    subscribe(here, "j", "g", Overflow.DROP_OLDEST);
    subscribe(there, "j", "g", Overflow.CONFLATE);
    subscribe(elsewhere, "j", "g", Overflow.BLOCK);
    here.crowded(true);
    there.crowded(true);
    for (int i = 1; i <= 9; i++) {
      publish("j", i, "x");
    }
    runAll();
    assertThat(elsewhere.got).hasSize(9);
    elsewhere.crowded(true);
    publish("j", 10, "x");
    runAll();
    assertThat(elsewhere.got).as("one that loses nothing, while it has room").hasSize(10);
  }

  @Test
  void aGroupIsWaitedForOnlyWhenAllAreFullUnderBlock() {
    subscribe(here, "j", "g", Overflow.BLOCK);
    subscribe(there, "j", "g", Overflow.BLOCK);
    here.full(true);
    there.full(true);
    assertThat(publish("j", 1, "x")).isFalse();
    assertThat(retries).hasValue(0);
    there.full(false);
    assertThat(retries).as("whoever has room first").hasValue(1);
    there.full(true);
    assertThat(publish("j", 1, "x")).isFalse();
    here.full(false);
    assertThat(retries).hasValueGreaterThan(1);
    here.full(true);
    there.full(true);
    RoutedSubscription dropping = subscribe(elsewhere, "j", "g", Overflow.DROP_OLDEST);
    elsewhere.full(true);
    for (int i = 1; i <= 6; i++) {
      assertThat(publish("j", i, "x")).isTrue();
    }
    runAll();
    assertThat(elsewhere.got).as("not those that would go beyond their bound").hasSize(6);
    assertThat(here.got).isEmpty();
    index.remove(dropping);
    assertThat(publish("j", 7, "x")).isFalse();
  }

  @Test
  void twoGroupsAndAPlainSubscriptionOfOneConnectionMakeOneDelivery() {
    subscribe(here, "j", null, Overflow.BLOCK);
    RoutedSubscription g = subscribe(here, "j", "g", Overflow.DROP_OLDEST);
    RoutedSubscription h = subscribe(here, "*", "h", Overflow.CONFLATE);
    subscribe(there, "j", null, Overflow.DROP_OLDEST);
    publish("j", 1, "x");
    runAll();
    assertThat(here.got).hasSize(1);
    assertThat(here.got.get(0).groups()).containsExactlyInAnyOrder(g.id(), h.id());
    assertThat(here.policies).containsExactly(Overflow.BLOCK);
    assertThat(there.got).hasSize(1);
    assertThat(there.got.get(0).groups()).isEmpty();
    assertThat(router.topics()).containsExactly(new TopicCount("", "j", 1, 4));
  }

  @Test
  void aMemberThatIsNotChosenStillGetsItsPlainDelivery() {
    subscribe(here, "j", "g", Overflow.BLOCK);
    subscribe(there, "j", "g", Overflow.BLOCK);
    subscribe(here, "j");
    subscribe(there, "j");
    for (int i = 1; i <= 4; i++) {
      publish("j", i, "x");
    }
    runAll();
    for (FakeSubscriber s : List.of(here, there)) {
      assertThat(s.got)
          .extracting(SampleFrames.Delivered::sequence)
          .containsExactly(1L, 2L, 3L, 4L);
      assertThat(s.got.stream().filter(d -> !d.groups().isEmpty())).hasSize(2);
    }
  }

  @Test
  void aFullSubscriberUnderBlockStopsThePublisherAndNobodyElse() {
    subscribe(here, "a");
    subscribe(there, "a", null, Overflow.BLOCK);
    subscribe(elsewhere, "b", null, Overflow.BLOCK);
    subscribe(there, "c", null, Overflow.DROP_OLDEST);
    there.full(true);
    assertThat(publish("a", 1, "x")).isFalse();
    assertThat(here.got).as("nothing is delivered to anybody").isEmpty();
    assertThat(stats.eventsIn.get()).isZero();
    assertThat(publish("b", 1, "x")).isTrue();
    assertThat(publish("c", 1, "x")).as("drops, does not stop").isTrue();
    assertThat(retries).hasValue(0);
    there.full(false);
    assertThat(retries).as("exactly one call").hasValue(1);
    assertThat(publish("a", 1, "x")).isTrue();
    assertThat(here.got).hasSize(1);
  }

  @Test
  void theWayToAnotherLoopHasABound() {
    subscribe(there, "a", null, Overflow.DROP_OLDEST);
    String mebibyte = "x".repeat(1 << 20);
    int published = 0;
    while (publish("a", published + 1, mebibyte)) {
      published++;
      assertThat(published).isLessThan(32);
    }
    assertThat(published).isEqualTo(16);
    router.flush();
    assertThat(retries).hasValue(0);
    loops.runAll();
    assertThat(retries).hasValue(1);
    assertThat(there.got).hasSize(16);
    assertThat(publish("a", 17, mebibyte)).isTrue();
  }

  @Test
  void aFullBusStopsEveryPublisher() {
    memory.reserve((1L << 30) + 1);
    assertThat(publish("nobody.cares", 1, "x")).isFalse();
    assertThat(retries).hasValue(0);
    memory.release((1L << 30) + 1);
    assertThat(retries).hasValue(1);
    assertThat(publish("nobody.cares", 1, "x")).isTrue();
  }

  @Test
  void theBarrierComesBehindAllThatAnyLoopHadMade() {
    LoopBarrier barrier = new LoopBarrier(loops);
    loops.onHandOver(
        loop -> {
          if (loop == 0) {
            router.flush();
          }
        });
    subscribe(there, "a");
    publish("a", 1, "x");
    List<Integer> gotAtBarrier = new ArrayList<>();
    barrier.afterAll(1, () -> gotAtBarrier.add(there.got.size()));
    // The destination is quick, and another loop is slow: the task has to wait for all.
    while (loops.runOne(1) || loops.runOne(0)) {
      assertThat(gotAtBarrier).isEmpty();
    }
    assertThat(there.got).hasSize(1);
    loops.runAll();
    assertThat(gotAtBarrier).containsExactly(1);
  }

  @Test
  void theBarrierAsksEachLoopOnceForAllOfATurn() {
    AtomicInteger asked = new AtomicInteger();
    loops.onHandOver(loop -> asked.incrementAndGet());
    LoopBarrier barrier = new LoopBarrier(loops);
    List<Integer> ran = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      int task = i;
      barrier.afterAll(1, () -> ran.add(task));
    }
    loops.runAll();
    assertThat(ran).hasSize(1_000).isSorted();
    assertThat(asked).hasValue(loops.count());
    barrier.afterAll(1, () -> ran.add(1_000));
    loops.runAll();
    assertThat(ran).hasSize(1_001);
    assertThat(asked).hasValue(2 * loops.count());
  }

  @Test
  void theBarrierOfABusThatHasEndedIsQuiet() {
    AtomicInteger ran = new AtomicInteger();
    loops.end();
    new LoopBarrier(loops).afterAll(0, ran::incrementAndGet);
    loops.runAll();
    assertThat(ran).hasValue(0);
  }

  @Test
  void anEventIsHeldOnceForAnyNumberOfGroups() {
    List<FakeSubscriber> members = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      FakeSubscriber member = new FakeSubscriber(1 + i % 2);
      members.add(member);
      subscribe(member, "big", "g" + i, Overflow.BLOCK);
    }
    String payload = "x".repeat(1 << 20);
    assertThat(publish("big", 7, payload)).isTrue();
    assertThat(memory.used()).isLessThan((1 << 20) + 100 * 512);
    runAll();
    for (int i = 0; i < 100; i++) {
      SampleFrames.Delivered got = members.get(i).got.get(0);
      assertThat(got.topic()).isEqualTo("big");
      assertThat(got.producer()).isEqualTo(PRODUCER);
      assertThat(got.sequence()).isEqualTo(7);
      assertThat(got.payloads()).containsExactly(payload);
      assertThat(got.groups()).containsExactly(i + 1L);
    }
    assertThat(memory.used()).isZero();
  }

  @Test
  void subscribersWithoutAGroupShareItWithThem() {
    subscribe(here, "big");
    subscribe(there, "big", "g", Overflow.BLOCK);
    subscribe(there, "*", "h", Overflow.BLOCK);
    String payload = "y".repeat(5_000);
    assertThat(publish("big", 1, payload, "z")).isTrue();
    runAll();
    assertThat(here.got.get(0).groups()).isEmpty();
    assertThat(here.got.get(0).payloads()).containsExactly(payload, "z");
    assertThat(there.got).hasSize(1);
    assertThat(there.got.get(0).groups()).containsExactlyInAnyOrder(2L, 3L);
    assertThat(there.got.get(0).payloads()).containsExactly(payload, "z");
  }

  private void publish(PublisherStall stall, String topic) {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(topic, 1, false, "x"));
    PublishView view = SampleFrames.view(in);
    assertThat(router.select(in, view)).isNull();
    if (router.mustWait(PRODUCER, retries::incrementAndGet)) {
      router.stalled(stall);
    } else {
      router.deliver(in, view, PRODUCER, 5, 6);
      router.published(stall);
    }
  }

  @Test
  void aStallThatStarvesOthersIsCharged() {
    PublisherStall stall = new PublisherStall();
    subscribe(here, ">");
    subscribe(there, "t", null, Overflow.DROP_OLDEST);
    publish(stall, "t");
    here.full(true);
    publish(stall, "t");
    router.chargeStall(stall, 1_000);
    router.chargeStall(stall, 2_000);
    assertThat(here.heldNanos).as("the other has something to read").isZero();
    there.starving(true);
    router.chargeStall(stall, 3_000);
    router.chargeStall(stall, 3_500);
    assertThat(here.heldNanos).as("also for the time before").isEqualTo(2_500);
    assertThat(there.heldNanos).isZero();
    here.full(false);
    publish(stall, "t");
    router.chargeStall(stall, 9_000);
    assertThat(here.heldNanos).as("no longer").isEqualTo(2_500);
  }

  /** Routes that are not used are forgotten after a while; a publisher's stall keeps one in use. */
  @Test
  void aStallIsChargedForItsWholeDuration() {
    PublisherStall stall = new PublisherStall();
    subscribe(here, "own");
    subscribe(there, "other");
    publish(stall, "other");
    publish(stall, "own");
    here.full(true);
    there.starving(true);
    publish(stall, "own");
    for (int second = 1; second <= 60; second++) {
      router.trim(TimeUnit.SECONDS.toNanos(second));
      router.chargeStall(stall, TimeUnit.SECONDS.toNanos(second));
    }
    assertThat(here.heldNanos).isEqualTo(TimeUnit.SECONDS.toNanos(59));
  }

  @Test
  void stallsOfASoleSubscriberAreNotCharged() {
    PublisherStall stall = new PublisherStall();
    subscribe(here, "own");
    here.full(true);
    publish(stall, "own");
    router.chargeStall(stall, 1_000);
    router.chargeStall(stall, 2_000);
    assertThat(here.heldNanos).isZero();
  }

  @Test
  void otherTopicsOfThePublisherCountAsWell() {
    PublisherStall stall = new PublisherStall();
    subscribe(there, "other");
    subscribe(here, "own");
    publish(stall, "other");
    here.full(true);
    there.starving(true);
    publish(stall, "own");
    router.chargeStall(stall, 1_000);
    router.chargeStall(stall, 2_000);
    assertThat(here.heldNanos).isEqualTo(1_000);
  }

  @Test
  void aFrameForWhichThereIsNoMemoryLeavesNothingBehind() {
    subscribe(here, "a.b");
    subscribe(here, "a.b", "g", Overflow.BLOCK);
    subscribe(there, "a.b", "h", Overflow.BLOCK);
    Router poor = router(refusing);
    for (int allowed = 0; allowed < 3; allowed++) {
      refusing.allow(allowed);
      assertThatThrownBy(() -> publish(poor, "a.b", 1, "x".repeat(1_000)))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(stats.eventsIn.get()).as("what is refused is not published").isEqualTo(allowed);
      refusing.allow(Integer.MAX_VALUE);
      poor.flush();
      loops.runAll();
      here.got.clear();
      there.got.clear();
      assertThat(publish(poor, "a.b", 2, "y")).isTrue();
      poor.flush();
      loops.runAll();
      assertThat(here.got).hasSize(1);
      assertThat(here.got.get(0).groups()).hasSize(1);
      assertThat(there.got).hasSize(1);
    }
    poor.close();
  }
}
