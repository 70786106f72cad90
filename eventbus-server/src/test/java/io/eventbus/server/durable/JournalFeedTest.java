package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Events of journals on their way to subscribers of this bus. */
class JournalFeedTest {
  private final FakeLoops loops = new FakeLoops(1);
  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final BusMemory memory = new BusMemory(1 << 30);
  private final FakeJournals journals = new FakeJournals();
  private final Queue<Runnable> pauses = new ArrayDeque<>();
  private final FakeSubscriber slow = new FakeSubscriber(0);
  private final FakeSubscriber other = new FakeSubscriber(0);
  private final Router router =
      new Router(
          0,
          loops,
          index,
          new UnpooledByteBufAllocator(true),
          memory,
          new LoopStats(),
          RemoteForwarder.NONE,
          () -> {});
  private int published;

  private JournalFeed feed(long maxBytes) {
    var unused =
        journals.create(
            new JournalDefinition(
                "orders",
                List.of(TopicFilter.parse("orders.>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
    JournalFeed feed =
        new JournalFeed(
            journals, loops, List.of(router), memory, maxBytes, (task, millis) -> pauses.add(task));
    var watch = journals.watch(feed);
    assertThat(watch).isNotNull();
    index.add(new RoutedSubscription(slow, 1, TopicFilter.parse("orders.>"), null, Overflow.BLOCK));
    index.add(
        new RoutedSubscription(other, 2, TopicFilter.parse("orders.>"), null, Overflow.BLOCK));
    return feed;
  }

  private void publish() {
    published++;
    FakeEvents.publish(journals, 1, "orders.eu", published, "event " + published);
  }

  /** Runs the loop and what waits for the disk, as long as there is something. */
  private void runAll() {
    loops.runAll();
    for (int i = 0; i < 10 && !pauses.isEmpty(); i++) {
      pauses.remove().run();
      loops.runAll();
    }
  }

  private static List<String> payloads(FakeSubscriber subscriber) {
    return subscriber.got.stream().flatMap(each -> each.payloads().stream()).toList();
  }

  private String[] all() {
    return Stream.iterate(1, i -> i + 1)
        .limit(published)
        .map(i -> "event " + i)
        .toArray(String[]::new);
  }

  @AfterEach
  void assertNoLeaks() {
    router.close();
    assertThat(memory.used()).isZero();
  }

  @Test
  void whatIsAppliedIsDeliveredByItsPositions() {
    feed(1 << 20);
    for (int i = 0; i < 5; i++) {
      publish();
    }
    runAll();
    assertThat(payloads(other)).containsExactly(all());
    assertThat(other.got.get(4).producer()).as("the journal").isEqualTo(1);
    assertThat(other.got.get(4).sequence()).isEqualTo(5);
    assertThat(pauses).as("nothing is read from the disk").isEmpty();
  }

  @Test
  void itIsKnownHowFarTheFeedHasCome() {
    JournalFeed feed = feed(200);
    assertThat(feed.hasDelivered(feed.ends(Set.of(1)))).as("nothing was applied").isTrue();
    publish();
    Map<Integer, Long> first = feed.ends(Set.of(1, 2));
    assertThat(first).isEqualTo(Map.of(1, 1L));
    assertThat(feed.hasDelivered(first)).isFalse();
    runAll();
    assertThat(feed.hasDelivered(first)).isTrue();
    slow.full(true);
    for (int i = 0; i < 20; i++) {
      publish();
    }
    Map<Integer, Long> second = feed.ends(Set.of(1));
    runAll();
    assertThat(feed.hasDelivered(second)).isFalse();
    slow.full(false);
    runAll();
    assertThat(second).isEqualTo(Map.of(1, 21L));
    assertThat(feed.hasDelivered(second)).isTrue();
  }

  @Test
  void aJournalThatACopyOfTheReplicaHasNoMoreHasNoFeed() {
    JournalFeed feed = feed(1 << 20);
    publish();
    runAll();
    journals.copies(true);
    var unused = journals.delete(1);
    journals.copies(false);
    assertThat(feed.ends(Set.of(1))).containsKey(1);
    var unusedJournal =
        journals.create(
            new JournalDefinition(
                "prices",
                List.of(TopicFilter.parse("prices.>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
    assertThat(feed.ends(Set.of(1))).isEmpty();
  }

  @Test
  void aFullSubscriberHoldsUpNobodyWhoPublishesAndMissesNothing() {
    feed(200);
    publish();
    runAll();
    slow.full(true);
    for (int i = 0; i < 20; i++) {
      publish();
    }
    runAll();
    assertThat(payloads(slow)).containsExactly("event 1");
    assertThat(memory.used()).isLessThanOrEqualTo(200);
    slow.full(false);
    runAll();
    assertThat(payloads(slow)).containsExactly(all());
    publish();
    runAll();
    assertThat(payloads(slow)).containsExactly(all());
    assertThat(payloads(other)).containsExactly(all());
  }

  @Test
  void aFullSubscriberIsChargedWhileOthersOfItsJournalStarve() {
    FakeSubscriber starving = new FakeSubscriber(0);
    feed(1 << 20);
    index.add(
        new RoutedSubscription(starving, 3, TopicFilter.parse("orders.us"), null, Overflow.BLOCK));
    FakeEvents.publish(journals, 1, "orders.us", 1, "of another topic");
    runAll();
    slow.full(true);
    for (int i = 0; i < 3; i++) {
      // Stalled again and again, but briefly.
      publish();
      loops.runAll();
      slow.full(false);
      loops.runAll();
      slow.full(true);
    }
    publish();
    loops.runAll();
    assertThat(pauses).as("tasks that charge").hasSize(1);
    runAll();
    assertThat(slow.heldNanos).as("nobody starves").isZero();
    starving.starving(true);
    runAll();
    assertThat(slow.heldNanos).isPositive();
    assertThat(other.heldNanos).isZero();
    slow.full(false);
    runAll();
    assertThat(pauses).isEmpty();
    assertThat(payloads(slow)).hasSize(5);
  }

  @Test
  void whatIsAppliedBehindAHoleWaitsForIt() {
    FakeSubscriber ofOther = new FakeSubscriber(0);
    feed(110);
    index.add(
        new RoutedSubscription(ofOther, 3, TopicFilter.parse("orders.us"), null, Overflow.BLOCK));
    slow.full(true);
    ofOther.full(true);
    publish();
    loops.runAll();
    published++;
    // Waits for room of its own, when the first is delivered.
    FakeEvents.publish(journals, 1, "orders.us", 1, "event 2");
    // Finds no room in the feed.
    published++;
    FakeEvents.publish(journals, 1, "orders.eu", 2, "event 3");
    slow.full(false);
    loops.runAll();
    assertThat(payloads(slow)).containsExactly("event 1");
    published++;
    FakeEvents.publish(journals, 1, "orders.eu", 3, "event 4");
    ofOther.full(false);
    runAll();
    assertThat(payloads(slow)).containsExactly(all());
  }

  @Test
  void whatIsAppliedAgainIsDeliveredOnce() {
    feed(1 << 20);
    publish();
    publish();
    runAll();
    journals.tellAgain();
    runAll();
    publish();
    runAll();
    assertThat(payloads(slow)).containsExactly(all());
  }

  @Test
  void journalsThatCannotBeReadAreReadLater() {
    feed(0);
    journals.readable(false);
    publish();
    loops.runAll();
    pauses.remove().run();
    assertThat(payloads(slow)).isEmpty();
    journals.readable(true);
    runAll();
    assertThat(payloads(slow)).containsExactly(all());
  }

  @Test
  void aJournalThatIsDeletedMeanwhileIsForgotten() {
    feed(0);
    publish();
    loops.runAll();
    var unused = journals.delete(1);
    runAll();
    assertThat(payloads(slow)).isEmpty();
    assertThat(pauses).isEmpty();
  }
}
