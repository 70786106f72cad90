package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.SlotState;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.durable.SharedConsumer.Settled;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.SampleFrames.FedShared;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Consumers of one key-shared durable subscription at several buses, which share the journals. */
class KeySharedConsumersTest {
  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());
  private static final int SEEDS = 100;
  private static final int STEPS = 200;
  private static final int TIMEOUT = 5_000;
  private static final long ENOUGH = 1L << 30;

  private final Buses buses = new Buses();
  private final Bus one = new Bus(buses, "one/1");
  private final Bus two = new Bus(buses, "two/1");

  @AfterEach
  void close() {
    buses.close();
  }

  /** Journals, and the owners that live. */
  private static final class Buses {
    final FakeJournals journals = new FakeJournals();
    final Set<String> living = new HashSet<>();
    final List<Bus> all = new ArrayList<>();
    final List<DeliveryAllocator> frames = new ArrayList<>();
    final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    final Map<String, Long> sequences = new HashMap<>();
    String filter = "orders.>";
    int attempts = 100;
    long last;
    // Positions of events that the filter selects, and of those whose success was confirmed.
    final Set<Long> wanted = new HashSet<>();
    final Set<Long> confirmed = new HashSet<>();
    // Those of each topic, in their order, and the topic of each.
    final Map<String, TreeSet<Long>> byTopic = new HashMap<>();
    final Map<Long, String> topics = new HashMap<>();
    // Those after which the next one of the slot may come, and the last attempt of each.
    final Set<Long> over = new HashSet<>();
    final Map<Long, Integer> lastAttempts = new HashMap<>();

    Buses() {
      var unused =
          journals.create(
              new JournalDefinition(
                  "orders",
                  List.of(TopicFilter.parse("orders.>")),
                  KeepPolicy.ALL,
                  Retention.UNLIMITED,
                  FullPolicy.DROP_OLD));
    }

    void publish(String topic, int count) {
      String[] payloads =
          LongStream.rangeClosed(last + 1, last + count)
              .mapToObj(Long::toString)
              .toArray(String[]::new);
      if (TopicFilter.parse(filter).matches(topic)) {
        for (long i = 1; i <= count; i++) {
          wanted.add(last + i);
          byTopic.computeIfAbsent(topic, key -> new TreeSet<>()).add(last + i);
          topics.put(last + i, topic);
        }
      }
      last += count;
      FakeEvents.publish(
          journals,
          1,
          topic,
          sequences.merge(topic, (long) count, Long::sum) - count + 1,
          payloads);
    }

    /** Takes note of a delivery: the event before it of its topic has to be over. */
    void delivered(long position, int attempt) {
      long before = before(position);
      assertThat(
              before == 0
                  || over.contains(before)
                  || lastAttempts.getOrDefault(before, 0) >= attempts)
          .as("%d of %s is over before %d", before, topics.get(position), position)
          .isTrue();
      lastAttempts.put(position, attempt);
    }

    private long before(long position) {
      return Objects.requireNonNullElse(
          Objects.requireNonNull(byTopic.get(topics.get(position))).lower(position), 0L);
    }

    List<Long> dead() {
      return journals.deadEvents(1, "jobs", 0, 10_000).stream().map(DeadEvent::position).toList();
    }

    void redrive() {
      var unused = journals.redrive(1, "jobs", 1, Long.MAX_VALUE, false);
    }

    /** Returns whether all is settled or dead. */
    boolean isSettled() {
      CursorView cursor = journals.cursor(1, "jobs");
      return cursor != null
          && cursor.waiting() == 0
          && cursor.consumers() > 0
          && consumers().stream()
              .map(each -> Objects.requireNonNull(journals.slots(1, "jobs", each.epoch())))
              .flatMap(view -> view.slots().stream())
              .allMatch(slot -> slot.state().floor() == last);
    }

    /** Releases the buffers of all buses, of which nobody hears any more. */
    void close() {
      journals.holds(false);
      journals.losesAnswers(false);
      journals.unavailable(true);
      for (Bus bus : all) {
        bus.readers.stream().filter(Reader::isOpen).forEach(reader -> reader.leave(false));
        bus.run();
      }
      frames.forEach(DeliveryAllocator::close);
    }

    CursorView cursor() {
      return Objects.requireNonNull(journals.cursor(1, "jobs"));
    }

    List<ConsumerView> consumers() {
      return journals.consumers(1, "jobs", 0, 1_000);
    }
  }

  /** Bus with one loop. */
  private static final class Bus {
    final Buses buses;
    final String owner;
    final FakeLoops loops = new FakeLoops(1);
    final FakeReads reads = new FakeReads();
    final BusMemory memory = new BusMemory(1 << 30);
    final JournalConsumers all;
    final List<Reader> readers = new ArrayList<>();

    Bus(Buses buses, String owner) {
      this(buses, owner, 1 << 20);
    }

    Bus(Buses buses, String owner, long tailBytes) {
      this.buses = buses;
      this.owner = owner;
      buses.living.add(owner);
      buses.all.add(this);
      all =
          reads.consumers(
              buses.journals,
              new CursorOwner(() -> owner, other -> !buses.living.contains(other)),
              loops,
              memory,
              buses.allocator,
              tailBytes);
    }

    Reader consume(int maxEvents) {
      return consume(maxEvents, ENOUGH);
    }

    Reader consume(int maxEvents, long limit) {
      Reader reader = new Reader(this, maxEvents, limit);
      readers.add(reader);
      reader.consumer.start();
      return reader;
    }

    /** Runs what can run without more time. */
    void run() {
      int rounds = 0;
      while (reads.waiting() > 0 || loops.waiting(0) > 0) {
        assertThat(++rounds).as("it comes to rest").isLessThan(100_000);
        reads.run();
        int tasks = 0;
        while (loops.runOne(0)) {
          assertThat(++tasks).as("it comes to rest").isLessThan(100_000);
        }
      }
    }

    void passMillis(long millis) {
      for (long left = millis; left > 0; left -= CursorLooks.TICK_MILLIS) {
        buses.journals.passMillis(CursorLooks.TICK_MILLIS);
        reads.passMillis(CursorLooks.TICK_MILLIS);
        List.copyOf(readers).forEach(Reader::tick);
        run();
      }
    }
  }

  /** Delivery of an event that is not settled. */
  private record Held(long position, int attempt) {}

  /** Connection with one consumer. */
  private static final class Reader implements JournalConsumer.Line {
    final Bus bus;
    final DeliveryAllocator frames;
    final KeySharedConsumer consumer;
    final int maxEvents;
    final List<FedShared> got = new ArrayList<>();
    final List<Truncated> truncated = new ArrayList<>();
    final List<Held> held = new ArrayList<>();
    final List<Long> settled = new ArrayList<>();
    // Positions whose success is to be confirmed.
    final Set<Long> done = new HashSet<>();
    boolean accepted;
    boolean finished;
    boolean left;
    boolean room = true;
    boolean ticks;
    int unsettled;
    @Nullable ErrorCode code;
    boolean retryable;

    Reader(Bus bus, int maxEvents, long limit) {
      this.bus = bus;
      this.maxEvents = maxEvents;
      frames = new DeliveryAllocator(bus.buses.allocator, bus.memory);
      bus.buses.frames.add(frames);
      consumer =
          new KeySharedConsumer(
              bus.all,
              Objects.requireNonNull(bus.all.find("", "orders")),
              new JournalConsumer.Wish(
                  1, TopicFilter.parse(bus.buses.filter), "jobs", ConsumeStart.FIRST, 0, limit),
              new SharedConsumer.Limits(maxEvents, TIMEOUT, bus.buses.attempts),
              this);
    }

    List<Long> positions() {
      return got.stream().flatMap(fed -> fed.positions().stream()).toList();
    }

    void tick() {
      if (ticks && !left && code == null) {
        ticks = !consumer.tick();
      }
    }

    void leave(boolean lost) {
      left = true;
      consumer.end(lost);
    }

    boolean isOpen() {
      return !left && !finished && code == null;
    }

    /** Settles everything that it has. */
    void settleAll(Outcome outcome, boolean confirm) {
      for (Held each : List.copyOf(held)) {
        Settled unused = settle(each, outcome, confirm);
      }
    }

    Settled settle(Held each, Outcome outcome, boolean confirm) {
      held.remove(each);
      long position = each.position();
      boolean isOver = outcome == Outcome.DONE || outcome == Outcome.REJECT;
      boolean wasOver = bus.buses.over.contains(position);
      if (isOver) {
        // The next one may come before the answer.
        bus.buses.over.add(position);
      }
      Settled answer =
          consumer.settle(position, position, each.attempt(), outcome, -1, "why", confirm);
      if (answer != Settled.ACCEPTED && isOver && !wasOver) {
        bus.buses.over.remove(position);
      }
      if (answer == Settled.ACCEPTED && outcome == Outcome.DONE && confirm) {
        done.add(position);
      }
      return answer;
    }

    @Override
    public int loop() {
      return 0;
    }

    @Override
    public long connection() {
      return 1;
    }

    @Override
    public Object address() {
      return this;
    }

    @Override
    public void execute(Runnable task) {
      bus.loops.executor(0).execute(task);
    }

    @Override
    public DeliveryAllocator frames() {
      return frames;
    }

    @Override
    public boolean begin(JournalConsumer which) {
      return room;
    }

    @Override
    public void end(JournalConsumer which) {}

    @Override
    public void send(Delivery frame, int events) {
      assertThat(accepted).isTrue();
      assertThat(isOpen()).as("it has not ended").isTrue();
      Object sent = SampleFrames.read(frame.frame()).get(0);
      frame.release();
      if (sent instanceof Truncated hole) {
        truncated.add(hole);
        return;
      }
      FedShared fed = (FedShared) sent;
      assertThat(fed.positions())
          .hasSize(events)
          .hasSizeBetween(1, Math.min(maxEvents, FeedCutter.MAX_EVENTS));
      assertThat(fed.from()).isEqualTo(fed.positions().get(0));
      assertThat(fed.to()).isEqualTo(fed.positions().get(events - 1));
      assertThat(fed.payloads()).isEqualTo(fed.positions().stream().map(p -> "" + p).toList());
      assertThat(bus.buses.wanted).containsAll(fed.positions());
      for (long position : fed.positions()) {
        assertThat(bus.buses.confirmed).as("settled for good").doesNotContain(position);
        held.removeIf(each -> each.position() == position);
        held.add(new Held(position, fed.attempt()));
        bus.buses.delivered(position, fed.attempt());
      }
      assertThat(fed.positions().stream().map(bus.buses.topics::get))
          .as("no two of one key")
          .doesNotHaveDuplicates();
      got.add(fed);
    }

    @Override
    public void tickSoon(JournalConsumer which) {
      ticks = true;
    }

    @Override
    public void opened() {}

    @Override
    public void accepted(JournalConsumer which) {
      accepted = true;
    }

    @Override
    public void ended(JournalConsumer which, ErrorCode why, String message, boolean again) {
      code = why;
      retryable = again;
    }

    @Override
    public void finished(JournalConsumer which) {
      assertThat(finished).isFalse();
      finished = true;
    }

    @Override
    public void settled(JournalConsumer which, long upTo) {
      settled.add(upTo);
      if (done.remove(upTo)) {
        bus.buses.confirmed.add(upTo);
      }
    }

    @Override
    public void unsettled(JournalConsumer which, String message) {
      unsettled++;
    }

    @Override
    public void failed() {
      throw new AssertionError("no memory");
    }
  }

  private Reader joined(Bus bus, int maxEvents) {
    Reader reader = bus.consume(maxEvents);
    run();
    assertThat(reader.accepted).isTrue();
    return reader;
  }

  private void run() {
    for (int i = 0; i < 4; i++) {
      one.run();
      two.run();
    }
  }

  private static List<Long> range(long from, long to) {
    return LongStream.rangeClosed(from, to).boxed().toList();
  }

  /** Publishes one event of each of some keys, which are of different slots. */
  private void publishKeys(int keys) {
    Set<Integer> slots = new HashSet<>();
    for (int i = 0; slots.size() < keys; i++) {
      String topic = "orders.k" + i;
      byte[] utf8 = topic.getBytes(StandardCharsets.UTF_8);
      if (slots.add(SlotState.slotOf(ByteBuffer.wrap(utf8), 0, utf8.length))) {
        buses.publish(topic, 1);
      }
    }
  }

  private static List<Long> positions(List<Reader> readers) {
    return readers.stream().flatMap(reader -> reader.positions().stream()).sorted().toList();
  }

  @Test
  void eventsOfAKeyComeOneAfterTheOther() {
    buses.publish("orders.a", 3);
    buses.publish("orders.b", 2);
    Reader reader = joined(one, 10);
    assertThat(reader.held).containsExactly(new Held(1, 1), new Held(4, 1));

    Settled unused = reader.settle(new Held(1, 1), Outcome.DONE, false);
    run();
    assertThat(reader.held).containsExactly(new Held(4, 1), new Held(2, 1));

    for (int i = 0; i < 3; i++) {
      reader.settleAll(Outcome.DONE, true);
      run();
    }
    assertThat(reader.positions()).containsExactly(1L, 4L, 2L, 3L, 5L);
    assertThat(reader.settled).containsExactlyInAnyOrder(2L, 3L, 4L, 5L);
    assertThat(buses.isSettled()).isTrue();
    assertThat(buses.cursor().floor()).isEqualTo(5);
  }

  @Test
  void keysAreSharedByTheConsumersOfAllBuses() {
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      readers.add(joined(i % 2 == 0 ? one : two, 10));
    }
    for (int i = 0; i < 20; i++) {
      publishKeys(20);
      for (int j = 0; j < 3; j++) {
        readers.forEach(reader -> reader.settleAll(Outcome.DONE, true));
        run();
      }
    }
    assertThat(positions(readers)).isEqualTo(range(1, 400));
    assertThat(readers).allMatch(reader -> reader.positions().size() >= 20);
    for (Reader reader : readers) {
      assertThat(readers)
          .as("a key is at one consumer")
          .filteredOn(other -> other != reader)
          .allMatch(other -> Collections.disjoint(keys(other), keys(reader)));
    }
    assertThat(buses.isSettled()).isTrue();
  }

  private Set<String> keys(Reader reader) {
    Set<String> keys = new HashSet<>();
    reader.positions().forEach(position -> keys.add(buses.topics.get(position)));
    return keys;
  }

  @Test
  void aConsumerThatJoinsGetsKeysWhenTheirEventsAreSettled() {
    Reader first = joined(one, 100);
    publishKeys(40);
    run();
    assertThat(first.held).hasSize(40);
    Reader second = joined(two, 100);
    publishKeys(40);
    run();
    assertThat(second.held).as("what is with the client blocks its keys").isEmpty();

    first.settleAll(Outcome.DONE, true);
    run();

    assertThat(second.held).hasSizeBetween(10, 30);
    assertThat(first.held.size() + second.held.size()).isEqualTo(40);
    first.leave(false);
    run();
    assertThat(second.held).hasSize(40).allMatch(each -> each.attempt() == 1);
  }

  @Test
  void idleConsumersAskForNothing() {
    for (int i = 0; i < 20; i++) {
      Reader unused = joined(i % 2 == 0 ? one : two, 10);
    }
    one.passMillis(3_000);
    two.passMillis(3_000);
    run();
    int before = buses.journals.applied();
    one.passMillis(5_000);
    two.passMillis(5_000);
    assertThat(buses.journals.applied()).isEqualTo(before);
    buses.publish("orders.a", 1);
    run();
    assertThat(buses.journals.applied() - before).as("the event alone").isEqualTo(1);
  }

  @Test
  void aRetryBlocksItsKeyAloneUntilItsTime() {
    buses.publish("orders.a", 2);
    Reader reader = joined(one, 10);
    assertThat(reader.consumer.settle(1, 1, 1, Outcome.RETRY, 3_000, "busy", true))
        .isEqualTo(Settled.ACCEPTED);
    reader.held.clear();
    buses.publish("orders.b", 1);
    run();
    assertThat(reader.settled).containsExactly(1L);
    assertThat(reader.held).containsExactly(new Held(3, 1));
    one.passMillis(2_500);
    assertThat(reader.held).hasSize(1);
    one.passMillis(800);
    assertThat(reader.held).containsExactly(new Held(3, 1), new Held(1, 2));

    Settled unused = reader.settle(new Held(3, 1), Outcome.DONE, false);
    assertThat(reader.consumer.settle(1, 1, 2, Outcome.RETRY, -1, "", false))
        .isEqualTo(Settled.ACCEPTED);
    one.passMillis(4_500);
    assertThat(reader.got).hasSize(3);
    reader.leave(false);
    Reader other = joined(two, 10);
    assertThat(other.held).as("the time goes on").isEmpty();
    two.passMillis(1_000);
    assertThat(other.held).containsExactly(new Held(1, 3));
  }

  @Test
  void whatIsNotSettledInTimeComesAgainAndTheLateSettlementIsTold() {
    buses.publish("orders.a", 2);
    buses.publish("orders.b", 1);
    Reader reader = joined(one, 10);
    one.passMillis(TIMEOUT - 1_000);
    assertThat(reader.consumer.extend(3, 3, 1)).isTrue();
    one.passMillis(1_200);
    assertThat(reader.held).containsExactly(new Held(3, 1), new Held(1, 2));
    assertThat(reader.settle(new Held(1, 1), Outcome.DONE, true)).isEqualTo(Settled.LATE);
    assertThat(reader.settle(new Held(2, 1), Outcome.DONE, true)).isEqualTo(Settled.LATE);
    assertThat(reader.consumer.extend(2, 2, 1)).isFalse();
    assertThat(reader.settle(new Held(1, 2), Outcome.DONE, true)).isEqualTo(Settled.ACCEPTED);
    run();
    assertThat(reader.settled).containsExactly(1L);
    assertThat(reader.held).containsExactly(new Held(3, 1), new Held(2, 1));
  }

  @Test
  void aReleasedEventComesAgainAsItWas() {
    buses.publish("orders.a", 2);
    Reader reader = joined(one, 10);
    Settled unused = reader.settle(new Held(1, 1), Outcome.RELEASE, true);
    run();
    assertThat(reader.held).containsExactly(new Held(1, 1));
    assertThat(reader.settled).containsExactly(1L);
  }

  @Test
  void deadLettersLetTheirKeyGoOnAndComeAgainBeforeIt() {
    buses.attempts = 2;
    buses.publish("orders.a", 3);
    Reader reader = joined(one, 10);
    Settled unused = reader.settle(new Held(1, 1), Outcome.REJECT, true);
    run();
    assertThat(reader.consumer.settle(2, 2, 1, Outcome.RETRY, 0, "", false))
        .isEqualTo(Settled.ACCEPTED);
    run();
    assertThat(reader.consumer.settle(2, 2, 2, Outcome.RETRY, 0, "twice", false))
        .isEqualTo(Settled.ACCEPTED);
    run();
    assertThat(buses.dead()).containsExactly(1L, 2L);
    assertThat(buses.journals.deadEvents(1, "jobs", 0, 9))
        .extracting(DeadEvent::reason)
        .containsExactly("why", "twice");
    reader.held.removeIf(each -> each.position() < 3);
    assertThat(reader.held).containsExactly(new Held(3, 1));

    buses.redrive();
    buses.publish("orders.a", 1);
    run();
    assertThat(reader.held).as("not beside the event at the client").hasSize(1);
    for (int i = 0; i < 4; i++) {
      reader.settleAll(Outcome.DONE, true);
      run();
    }

    assertThat(reader.positions()).containsExactly(1L, 2L, 2L, 3L, 1L, 2L, 4L);
    assertThat(buses.isSettled()).isTrue();
    assertThat(buses.cursor().floor()).isEqualTo(4);
    buses.redrive();
    one.passMillis(2_000);
    assertThat(reader.got).hasSize(7);
  }

  @Test
  void theEventsOfALostConnectionComeToOthersAndOnlyTheseCount() {
    buses.publish("orders.a", 2);
    buses.publish("orders.b", 1);
    Reader first = joined(one, 10);
    assertThat(first.held).hasSize(2);
    first.leave(true);
    Reader second = joined(two, 10);
    assertThat(second.held).containsExactlyInAnyOrder(new Held(1, 2), new Held(3, 2));
    second.settleAll(Outcome.DONE, false);
    run();
    assertThat(second.held).containsExactly(new Held(2, 1));
    second.leave(false);
    Reader third = joined(one, 10);
    assertThat(third.held).containsExactly(new Held(2, 1));
  }

  @Test
  void anEventThatEndsItsBusesDies() {
    buses.attempts = 3;
    buses.publish("orders.a", 2);
    Bus bus = one;
    List<Integer> attempts = new ArrayList<>();
    for (int i = 2; i < 7; i++) {
      Reader reader = bus.consume(10);
      bus.run();
      bus.passMillis(1_500);
      reader.held.stream()
          .filter(each -> each.position() == 1)
          .forEach(each -> attempts.add(each.attempt()));
      if (reader.held.stream().anyMatch(each -> each.position() == 2)) {
        break;
      }
      // The bus ends with the event, and nobody else has heard of it.
      buses.living.remove(bus.owner);
      bus = new Bus(buses, "bus/" + i);
    }
    // What the first one delivered is not known.
    assertThat(attempts).containsExactly(1, 1, 2, 3);
    assertThat(buses.dead()).containsExactly(1L);
    assertThat(buses.journals.deadEvents(1, "jobs", 0, 9).get(0).attempts()).isEqualTo(3);
  }

  @Test
  void theEventsOfABusThatHasEndedComeToOthers() {
    publishKeys(6);
    Reader first = joined(one, 10);
    assertThat(first.held).hasSize(6);
    first.settle(first.held.get(0), Outcome.DONE, true);
    run();
    Reader second = joined(two, 10);
    two.passMillis(2_000);
    assertThat(second.got).as("the other bus lives").isEmpty();
    buses.living.remove(one.owner);
    two.passMillis(2_000);
    assertThat(second.held).hasSize(5);
    assertThat(buses.consumers()).hasSize(1);
    // The other bus was only thought to have ended.
    Settled unused = first.settle(first.held.get(0), Outcome.DONE, true);
    one.run();
    assertThat(first.code).isEqualTo(ErrorCode.REPLACED);
    assertThat(first.retryable).isTrue();
    assertThat(first.unsettled).isPositive();
  }

  @Test
  void aConsumerHasNoMoreThanItWantsAndItsClientGrants() {
    publishKeys(30);
    Reader few = joined(one, 4);
    assertThat(few.held).hasSize(4);
    few.leave(false);
    run();
    Reader poor = one.consume(30, 1);
    run();
    assertThat(poor.got).as("one frame may pass the limit").hasSize(1);
    int before = poor.held.size();
    poor.consumer.grant(ENOUGH);
    run();
    assertThat(before).isPositive();
    assertThat(poor.held).hasSize(30);
  }

  @Test
  void aConsumerWithoutRoomWaitsForIt() {
    publishKeys(3);
    Reader reader = one.consume(10);
    reader.room = false;
    run();
    assertThat(reader.got).isEmpty();
    reader.room = true;
    reader.consumer.advance();
    run();
    assertThat(reader.held).hasSize(3);
  }

  @Test
  void aKeyThatIsBlockedDoesNotHoldOthersWhateverIsBehindIt() {
    Reader reader = joined(one, 10);
    for (int i = 0; i < KeySlots.MAX_KNOWN + 512; i += 256) {
      buses.publish("orders.a", 256);
    }
    for (int i = 0; i < 5; i++) {
      buses.publish("orders.b", 1);
      run();
      assertThat(reader.held).hasSize(2);
      Settled unused = reader.settle(reader.held.get(1), Outcome.DONE, false);
      run();
    }
    for (int i = 0; i < KeySlots.MAX_KNOWN + 512; i++) {
      reader.settleAll(Outcome.DONE, false);
      one.run();
    }
    assertThat(buses.over).hasSize(KeySlots.MAX_KNOWN + 517);
    one.passMillis(1_200);
    assertThat(buses.isSettled()).isTrue();
  }

  @Test
  void holesAreToldToOneConsumer() {
    publishKeys(10);
    var unused = buses.journals.purge(1, "", 3, 5);
    List<Reader> readers = List.of(joined(one, 10), joined(two, 10));
    for (int i = 0; i < 3; i++) {
      readers.forEach(reader -> reader.settleAll(Outcome.DONE, false));
      run();
    }
    assertThat(positions(readers)).containsExactly(1L, 2L, 6L, 7L, 8L, 9L, 10L);
    List<Truncated> holes = readers.stream().flatMap(reader -> reader.truncated.stream()).toList();
    assertThat(holes).hasSize(1);
    assertThat(holes.get(0).getFrom()).isEqualTo(3);
    assertThat(holes.get(0).getTo()).isEqualTo(5);
    assertThat(holes.get(0).getReason()).isEqualTo(TruncatedReason.PURGED);
    one.passMillis(1_200);
    two.passMillis(1_200);
    assertThat(buses.isSettled()).isTrue();
  }

  @Test
  void whatIsRemovedWhileItWaitsIsToldAndSettled() {
    buses.publish("orders.a", 4);
    Reader reader = joined(one, 10);
    var unused = buses.journals.purge(1, "", 2, 3);
    buses.over.addAll(List.of(2L, 3L));
    run();
    reader.settleAll(Outcome.DONE, false);
    run();
    assertThat(reader.held).containsExactly(new Held(4, 1));
    assertThat(reader.truncated).extracting(Truncated::getFrom).contains(2L);
    reader.settleAll(Outcome.DONE, false);
    one.passMillis(1_200);
    assertThat(buses.isSettled()).isTrue();
  }

  @Test
  void anUnsubscribedConsumerEndsWhenItsEventsAreSettled() {
    publishKeys(4);
    Reader first = joined(one, 10);
    assertThat(first.held).hasSize(4);
    first.consumer.finish();
    run();
    assertThat(first.finished).isFalse();
    publishKeys(10);
    run();
    assertThat(first.held).as("no more").hasSize(4);
    first.settle(first.held.get(0), Outcome.DONE, true);
    first.settle(first.held.get(0), Outcome.RELEASE, false);
    run();
    assertThat(first.finished).isFalse();
    one.passMillis(TIMEOUT + 500);
    assertThat(first.finished).isTrue();
    assertThat(first.settled).containsExactly(1L);
    assertThat(buses.consumers()).isEmpty();
    Reader second = joined(two, 100);
    assertThat(second.held)
        .contains(new Held(2, 1), new Held(3, 2), new Held(4, 2))
        .doesNotContain(new Held(1, 1))
        .hasSize(10);
  }

  @Test
  void anUnsubscribedConsumerEndsBehindTheAnswersToItsSettlements() {
    publishKeys(1);
    Reader first = joined(one, 10);
    first.consumer.finish();
    run();
    buses.journals.holds(true);
    Settled unused = first.settle(first.held.get(0), Outcome.DONE, true);
    run();
    assertThat(first.finished).isFalse();
    assertThat(first.settled).isEmpty();
    buses.journals.holds(false);
    buses.journals.applyHeld();
    run();
    assertThat(first.settled).hasSize(1);
    assertThat(first.finished).isTrue();
  }

  @Test
  void aSettlementWithoutAnAnswerIsToldAndSentAgain() {
    publishKeys(1);
    Reader reader = joined(one, 10);
    buses.journals.unavailable(true);
    reader.settleAll(Outcome.DONE, true);
    one.run();
    assertThat(reader.unsettled).isEqualTo(1);
    buses.journals.unavailable(false);
    one.passMillis(500);
    assertThat(buses.cursor().floor()).isEqualTo(1);
  }

  @Test
  void aConsumerWithoutEventsUsesItsSubscription() {
    Reader reader = joined(one, 10);
    long before = buses.cursor().stamp();
    buses.journals.passMillis(TimeUnit.HOURS.toMillis(2));
    reader.consumer.keepCursor();
    run();
    assertThat(buses.cursor().stamp() - before).isGreaterThanOrEqualTo(TimeUnit.HOURS.toMillis(2));
  }

  @Test
  void aBusThatTheJournalDoesNotAnswerDeliversNoMore() {
    buses.publish("orders.a", 10);
    Reader reader = joined(one, 10);
    buses.journals.unavailable(true);
    for (int i = 0; i < 5; i++) {
      reader.settleAll(Outcome.DONE, false);
      one.passMillis(200);
    }
    assertThat(reader.got).hasSizeLessThanOrEqualTo(2);
    int before = reader.got.size();
    buses.journals.unavailable(false);
    one.passMillis(500);
    assertThat(reader.got).hasSize(before + 1);

    buses.journals.holds(true);
    for (int i = 0; i < 2; i++) {
      reader.settleAll(Outcome.DONE, false);
      one.passMillis(1_000);
    }
    int got = reader.got.size();
    for (int i = 0; i < 3; i++) {
      reader.settleAll(Outcome.DONE, false);
      one.passMillis(1_000);
    }
    assertThat(reader.got).hasSizeLessThanOrEqualTo(got + 1);
    buses.journals.holds(false);
    buses.journals.applyHeld();
    for (int i = 0; i < 10; i++) {
      reader.settleAll(Outcome.DONE, false);
      one.passMillis(200);
    }
    assertThat(reader.positions()).isEqualTo(range(1, 10));
  }

  @Test
  void tooManyConfirmationsAreRefused() {
    publishKeys(300);
    Reader reader = joined(one, 300);
    buses.journals.holds(true);
    List<Settled> answers = new ArrayList<>();
    List.copyOf(reader.held)
        .forEach(each -> answers.add(reader.settle(each, Outcome.RELEASE, true)));
    assertThat(answers.subList(0, 256)).containsOnly(Settled.ACCEPTED);
    assertThat(answers.get(256)).isEqualTo(Settled.TOO_MANY);
    buses.journals.holds(false);
    buses.journals.applyHeld();
    run();
    assertThat(reader.settled).hasSizeGreaterThanOrEqualTo(256);
  }

  @Test
  void consumersOfAJournalThatIsDeletedEnd() {
    Reader first = joined(one, 10);
    Reader second = joined(one, 10);
    var unused = buses.journals.delete(1);
    one.run();
    assertThat(first.code).isEqualTo(ErrorCode.NO_JOURNAL);
    assertThat(second.code).isEqualTo(ErrorCode.NO_JOURNAL);
    assertThat(one.memory.used()).isZero();
  }

  @Test
  void eventsThatAreOnlyOnTheDiskAreReadFromThere() {
    Bus slow = new Bus(buses, "slow/1", 0);
    Reader reader = slow.consume(20);
    slow.run();
    for (int i = 0; i < 10; i++) {
      publishKeys(10);
    }
    for (int i = 0; i < 100; i++) {
      slow.run();
      reader.settleAll(Outcome.DONE, false);
    }
    slow.run();
    assertThat(reader.positions()).containsExactlyInAnyOrderElementsOf(range(1, 100));
    reader.leave(false);
    slow.run();
    assertThat(slow.memory.used()).isZero();
  }

  /** Any order of what happens, against the set of events that were settled. */
  private static final class Model {
    final Random random;
    final Buses buses = new Buses();
    final List<Bus> living = new ArrayList<>();
    int started;
    boolean holds;
    boolean loses;
    boolean unavailable;

    Model(long seed) {
      random = new Random(seed);
      buses.filter = random.nextInt(3) > 0 ? "orders.>" : "orders.us";
      buses.attempts = random.nextBoolean() ? 2 * STEPS : 3;
      start();
      start();
    }

    void start() {
      living.add(
          new Bus(buses, "bus/" + ++started, random.nextBoolean() ? 1 << 20 : random.nextInt(400)));
    }

    void step() {
      Bus bus = living.get(random.nextInt(living.size()));
      switch (random.nextInt(21)) {
        case 0, 1 -> publish();
        case 2 -> {
          if (bus.readers.size() < 3) {
            Reader unused =
                bus.consume(
                    1 + random.nextInt(20), random.nextBoolean() ? ENOUGH : random.nextInt(900));
          }
        }
        case 3 -> withReader(bus, this::remove);
        case 4, 5, 6 -> withReader(bus, this::settle);
        case 7, 8 -> bus.reads.run();
        case 9, 10, 11 -> {
          boolean unused = bus.loops.runOne(0);
        }
        case 12, 13 -> {
          int millis = random.nextInt(2_000);
          buses.journals.passMillis(millis);
          bus.reads.passMillis(millis);
          bus.readers.forEach(Reader::tick);
        }
        case 14 -> withReader(bus, reader -> reader.consumer.grant(random.nextInt(9_000)));
        case 15 -> withReader(bus, reader -> reader.room = random.nextInt(4) > 0);
        case 16 -> fault();
        case 17 -> buses.journals.applyHeld();
        case 18 -> bus.run();
        case 19 -> {
          if (random.nextInt(4) == 0 && buses.journals.cursor(1, "jobs") != null) {
            setFaults(false, false, false);
            buses.redrive();
            setFaults(holds, loses, unavailable);
          }
        }
        default -> {
          if (random.nextInt(5) == 0) {
            buses.living.remove(bus.owner);
            living.remove(bus);
            start();
          }
        }
      }
      living.forEach(each -> each.readers.removeIf(reader -> !reader.isOpen()));
    }

    private void withReader(Bus bus, Consumer<Reader> task) {
      if (!bus.readers.isEmpty()) {
        task.accept(bus.readers.get(random.nextInt(bus.readers.size())));
      }
    }

    private void remove(Reader reader) {
      if (random.nextBoolean()) {
        reader.leave(random.nextBoolean());
      } else if (!reader.consumer.isFinishing()) {
        reader.consumer.finish();
      }
    }

    private void settle(Reader reader) {
      if (reader.held.isEmpty()) {
        return;
      }
      Held each = reader.held.get(random.nextInt(reader.held.size()));
      if (random.nextInt(5) == 0) {
        boolean unused = reader.consumer.extend(each.position(), each.position(), each.attempt());
        return;
      }
      Outcome outcome = OUTCOMES.get(random.nextInt(OUTCOMES.size()));
      if (random.nextInt(3) == 0) {
        reader.settleAll(Outcome.DONE, random.nextBoolean());
      } else {
        Settled unused = reader.settle(each, outcome, random.nextBoolean());
      }
    }

    private void fault() {
      switch (random.nextInt(3)) {
        case 0 -> holds = random.nextBoolean();
        case 1 -> loses = random.nextInt(3) == 0;
        default -> unavailable = random.nextInt(3) == 0;
      }
      setFaults(holds, loses, unavailable);
    }

    private void setFaults(boolean hold, boolean lose, boolean fail) {
      buses.journals.holds(hold);
      buses.journals.losesAnswers(lose);
      buses.journals.unavailable(fail);
    }

    private void publish() {
      setFaults(false, false, false);
      int keys = 1 + random.nextInt(8);
      for (int i = 0; i < keys; i++) {
        int key = random.nextInt(8);
        buses.publish(key == 0 ? "orders.us" : "orders.k" + key, 1 + random.nextInt(4));
      }
      setFaults(holds, loses, unavailable);
    }

    void finish() {
      setFaults(false, false, false);
      buses.journals.applyHeld();
      living.forEach(bus -> bus.readers.forEach(reader -> reader.room = true));
      living.forEach(bus -> bus.readers.forEach(reader -> reader.consumer.grant(ENOUGH)));
      // After everything that was asked for has got its answer.
      Reader last = living.get(0).consume(50);
      buses.publish("orders.us", 1);
      for (int i = 0; i < 400 && !buses.isSettled(); i++) {
        for (Bus bus : living) {
          bus.passMillis(1_000);
          bus.readers.removeIf(reader -> !reader.isOpen());
          bus.readers.forEach(reader -> reader.settleAll(Outcome.DONE, true));
          bus.run();
        }
      }
      CursorView cursor = buses.cursor();
      assertThat(buses.isSettled())
          .as("%s, %s, the last: %s", cursor, buses.consumers(), last.code)
          .isTrue();
      List<Long> dead = buses.dead();
      assertThat(dead).isSubsetOf(buses.wanted);
      assertThat(cursor.dead()).isEqualTo(dead.size());
      for (long position : buses.wanted) {
        assertThat(buses.over.contains(position) || dead.contains(position))
            .as("position %d is settled or dead", position)
            .isTrue();
      }
      living.forEach(bus -> List.copyOf(bus.readers).forEach(reader -> reader.leave(false)));
      living.forEach(bus -> bus.passMillis(70_000));
      assertThat(buses.consumers()).isEmpty();
      for (Bus bus : living) {
        assertThat(bus.memory.used()).isZero();
        assertThat(bus.reads.timers()).isZero();
      }
    }
  }

  @Test
  void eachKeyIsSettledInItsOrderWhateverHappens() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Model model = new Model(seed);
      try {
        for (int i = 0; i < STEPS; i++) {
          model.step();
        }
        model.finish();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      } finally {
        model.buses.close();
      }
    }
  }
}
