package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.LinkedBuses;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.subscription.RoutedSubscription;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Groups on a durable topic at two buses, each with a replica of its journal. */
class JournalGroupsTest {
  private static final int FEED_BYTES = 4_000;

  /** Facts of a delivered frame. */
  private record Facts(
      long producer,
      long sequence,
      long offset,
      long originProducer,
      long originSequence,
      int events,
      long group) {}

  /** Subscriber that reads what a client of a durable topic is told. */
  private static final class Member extends FakeSubscriber {
    private final List<Facts> facts = new ArrayList<>();

    Member() {
      super(0);
    }

    @Override
    public void offer(Delivery delivery, Overflow overflow) {
      super.offer(delivery, overflow);
      ByteBuffer frame = delivery.frame();
      FrameCursor cursor = new FrameCursor().wrap(frame, frame.position(), frame.limit());
      assertThat(cursor.next()).isTrue();
      DeliverView view = new DeliverView();
      view.read(frame, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.UNLIMITED);
      facts.add(
          new Facts(
              view.producer(),
              view.sequence(),
              view.offset(),
              view.originProducer(),
              view.originSequence(),
              view.eventCount(),
              view.groupCount() == 0 ? 0 : view.group(0)));
    }

    List<Long> positions() {
      return facts.stream()
          .flatMapToLong(each -> LongStream.range(each.offset(), each.offset() + each.events()))
          .boxed()
          .toList();
    }
  }

  private final LinkedBuses linked = new LinkedBuses();
  private final FakeJournals journals = new FakeJournals();
  private final Queue<Runnable> pauses = new ArrayDeque<>();
  private long nextSubscription = 1;
  private int leader;
  private long published;
  private boolean telling = true;
  private final List<Runnable> untold = new ArrayList<>();

  JournalGroupsTest() {
    var unused =
        journals.create(
            new JournalDefinition(
                "orders",
                List.of(TopicFilter.parse("orders.>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
    linked.connect();
    for (int i = 0; i < linked.buses.size(); i++) {
      feed(i);
    }
  }

  private void feed(int number) {
    TestBus bus = linked.buses.get(number);
    JournalFeed feed =
        new JournalFeed(
            journals,
            bus.loops,
            bus.routers,
            bus.memory,
            FEED_BYTES,
            (task, millis) -> pauses.add(task));
    var unused =
        journals.watch(
            changes -> {
              AppliedChanges told =
                  new AppliedChanges(
                      changes.stamp(),
                      leader == number,
                      changes.chunks(),
                      changes.journals(),
                      changes.released(),
                      changes.regrouped());
              untold.add(() -> feed.applied(told));
              if (telling) {
                tell();
              }
            });
  }

  private void tell() {
    List<Runnable> all = List.copyOf(untold);
    untold.clear();
    all.forEach(Runnable::run);
  }

  private Member subscribe(int bus, @Nullable String group) {
    return subscribe(bus, group, new Member());
  }

  private Member subscribe(int bus, @Nullable String group, Member member) {
    linked
        .buses
        .get(bus)
        .index
        .add(
            new RoutedSubscription(
                member, nextSubscription++, TopicFilter.parse("orders.*"), group, Overflow.BLOCK));
    linked.pump();
    return member;
  }

  private void publish(int count, String... payloads) {
    for (int i = 0; i < count; i++) {
      FakeEvents.publish(journals, 1, "orders.eu", published + 1, payloads);
      published += payloads.length;
    }
  }

  /** Runs the buses, the links and what waits for the disk, until nothing is left to do. */
  private void runAll() {
    linked.pump();
    // As long as somebody is stalled there is always a task that looks at it.
    for (int i = 0; i < 100 && !pauses.isEmpty(); i++) {
      pauses.remove().run();
      linked.pump();
    }
  }

  private List<Long> all() {
    return LongStream.rangeClosed(1, published).boxed().toList();
  }

  private static List<Long> together(Member... members) {
    return Stream.of(members).flatMap(each -> each.positions().stream()).sorted().toList();
  }

  @AfterEach
  void nothingIsLeft() {
    linked.buses.forEach(TestBus::close);
    for (TestBus bus : linked.buses) {
      assertThat(bus.federation.figures().lostByReason().get("no_member")).isZero();
      bus.routers.get(0).close();
      assertThat(bus.memory.used()).isZero();
    }
  }

  @Test
  void oneMemberInTheClusterGetsAnEventAndAllOthersGetIt() {
    Member here = subscribe(0, "workers");
    Member there = subscribe(1, "workers");
    Member plainHere = subscribe(0, null);
    Member plainThere = subscribe(1, null);
    publish(20, "x");
    runAll();
    assertThat(here.positions()).as("at the leader's bus").isEqualTo(all());
    assertThat(there.positions()).isEmpty();
    leader = 1;
    publish(20, "x");
    runAll();
    assertThat(there.positions()).hasSize(20);
    assertThat(together(here, there)).isEqualTo(all());
    assertThat(plainHere.positions()).isEqualTo(all());
    assertThat(plainThere.positions()).isEqualTo(all());
  }

  @Test
  void membersAtAnotherBusGetTheFrameAsItIsStored() {
    Member one = subscribe(1, "workers");
    Member other = subscribe(1, "workers");
    Member ofOtherGroup = subscribe(1, "billing");
    publish(20, "x");
    runAll();
    assertThat(together(one, other)).isEqualTo(all());
    assertThat(one.positions()).hasSize(10);
    assertThat(ofOtherGroup.positions()).isEqualTo(all());
    assertThat(ofOtherGroup.facts.get(4))
        .as("journal, number of the topic, position, publisher and its number, subscription")
        .isEqualTo(new Facts(1, 5, 5, 7, 5, 1, 3));
  }

  @Test
  void aConnectionWithAndWithoutAGroupGetsTwoFrames() {
    for (int bus = 0; bus < 2; bus++) {
      Member both = subscribe(bus, "of bus " + bus);
      subscribe(bus, null, both);
      publish(5, "x");
      runAll();
      assertThat(both.facts.stream().filter(each -> each.group() == 0)).hasSize(5);
      assertThat(both.facts.stream().filter(each -> each.group() != 0)).hasSize(5);
    }
  }

  @Test
  void whatIsReadLaterGoesToTheMembersThatTheLeaderOfThenChooses() {
    Member here = subscribe(0, "workers");
    Member there = subscribe(1, "workers");
    Member slowHere = subscribe(0, null);
    Member slowThere = subscribe(1, null);
    slowHere.full(true);
    slowThere.full(true);
    // More than the feeds have room for.
    for (int i = 0; i < 6; i++) {
      leader = i % 2;
      publish(20, "x".repeat(50), "y");
      runAll();
    }
    assertThat(together(here, there)).isEmpty();
    for (TestBus bus : linked.buses) {
      assertThat(bus.memory.used()).isLessThan(2 * FEED_BYTES);
    }
    // What is left of its chunk is written anew by an entry of the present leader.
    var unused = journals.purge(1, "", 191, 191);
    slowHere.full(false);
    slowThere.full(false);
    runAll();
    List<Long> left = all().stream().filter(position -> position != 191).toList();
    assertThat(slowHere.positions()).isEqualTo(left);
    assertThat(slowThere.positions()).isEqualTo(left);
    assertThat(here.positions())
        .isEqualTo(left.stream().filter(position -> (position - 1) / 40 % 2 == 0).toList());
    assertThat(there.positions())
        .isEqualTo(left.stream().filter(position -> (position - 1) / 40 % 2 == 1).toList());
  }

  @Test
  void whatIsReadBeforeItIsToldWaitsUntilItIsKnownWhoLed() {
    Member here = subscribe(0, "workers");
    Member there = subscribe(1, "workers");
    publish(1, "more than a feed has room for".repeat(FEED_BYTES / 10));
    leader = 1;
    telling = false;
    publish(1, "x");
    runAll();
    assertThat(here.positions()).containsExactly(1L);
    assertThat(there.positions()).isEmpty();
    tell();
    runAll();
    assertThat(here.positions()).containsExactly(1L);
    assertThat(there.positions()).containsExactly(2L);
  }

  @Test
  void aFullMemberAtAnotherBusHoldsUpTheFeedAndNobodyWhoPublishes() {
    Member far = subscribe(1, "workers");
    Member plainThere = subscribe(1, null);
    far.full(true);
    publish(200, "x".repeat(1_000));
    runAll();
    assertThat(far.positions()).isEmpty();
    assertThat(linked.buses.get(0).memory.used()).as("feed and link").isLessThan(100 * 1_000);
    assertThat(plainThere.positions()).as("of its own bus").isEqualTo(all());
    far.full(false);
    runAll();
    assertThat(far.positions()).isEqualTo(all());
  }

  @Test
  void aFullMemberHoldsUpNobodyWhereAnotherBusChoosesTheMembers() {
    Member member = subscribe(1, "workers");
    Member plain = subscribe(1, null);
    member.full(true);
    publish(5, "x");
    runAll();
    assertThat(plain.positions()).isEqualTo(all());
    member.full(false);
    runAll();
    member.starving(true);
    plain.full(true);
    publish(5, "x");
    runAll();
    assertThat(plain.heldNanos).as("the member gets its frames of another bus").isZero();
    assertThat(member.positions()).isEqualTo(all());
    plain.full(false);
    runAll();
    assertThat(plain.positions()).isEqualTo(all());
    assertThat(member.positions()).isEqualTo(all());
  }
}
