package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.journal.Settlement.Outcome;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Consumers of one shared durable subscription at several buses, which share the journals. */
class SharedConsumersTest {
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
    final List<DeliveryAllocator> frames = new ArrayList<>();
    final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    final Map<String, Long> sequences = new HashMap<>();
    String filter = "orders.>";
    int attempts = 100;
    long last;
    // Positions of events that the filter selects, and of those whose success was confirmed.
    final Set<Long> wanted = new HashSet<>();
    final Set<Long> confirmed = new HashSet<>();

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

    void publish(int count) {
      publish("orders.eu", count);
    }

    void close() {
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
    final SharedConsumer consumer;
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
          new SharedConsumer(
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
      Settled answer =
          consumer.settle(position, position, each.attempt(), outcome, -1, "", confirm);
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
      }
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
    bus.run();
    assertThat(reader.accepted).isTrue();
    return reader;
  }

  private void run() {
    for (int i = 0; i < 3; i++) {
      one.run();
      two.run();
    }
  }

  private static List<Long> range(long from, long to) {
    return LongStream.rangeClosed(from, to).boxed().toList();
  }

  @Test
  void eachEventComesToOneConsumerAndIsSettledOnce() {
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      readers.add(joined(i % 2 == 0 ? one : two, 10));
    }
    for (int i = 0; i < 50; i++) {
      buses.publish(3);
      // Each bus is the first to ask now and then.
      (i % 2 == 0 ? one : two).run();
      run();
      readers.forEach(reader -> reader.settleAll(Outcome.DONE, true));
      run();
    }
    List<Long> all =
        readers.stream().flatMap(reader -> reader.positions().stream()).sorted().toList();
    assertThat(all).isEqualTo(range(1, 150));
    assertThat(readers).allMatch(reader -> reader.got.size() > 5);
    assertThat(readers.stream().mapToInt(reader -> reader.settled.size()).sum()).isEqualTo(150);
    CursorView cursor = buses.cursor();
    assertThat(cursor.inFlight() + cursor.waiting() + cursor.dead()).isZero();
    assertThat(cursor.floor()).isEqualTo(150);
    assertThat(cursor.consumers()).isEqualTo(4);
  }

  @Test
  void aHundredIdleConsumersCostNoMoreThanOne() {
    for (int i = 0; i < 100; i++) {
      Reader unused = joined(one, 10);
    }
    run();
    int before = buses.journals.applied();
    buses.publish(1);
    run();
    // The event, the one that takes it, and one that finds nothing more.
    assertThat(buses.journals.applied() - before).isLessThanOrEqualTo(3);
    assertThat(one.readers.stream().mapToInt(reader -> reader.got.size()).sum()).isEqualTo(1);
    int applied = buses.journals.applied();
    one.passMillis(2_000);
    assertThat(buses.journals.applied()).as("nothing is asked without a reason").isEqualTo(applied);
  }

  @Test
  void consumersTakeTurns() {
    Reader first = joined(one, 1);
    Reader second = joined(one, 1);
    for (int i = 0; i < 10; i++) {
      buses.publish(1);
      run();
      one.readers.forEach(reader -> reader.settleAll(Outcome.DONE, false));
      run();
    }
    assertThat(first.got).hasSize(5);
    assertThat(second.got).hasSize(5);
  }

  @Test
  void aConsumerHasNoMoreThanItWants() {
    buses.publish(100);
    Reader reader = joined(one, 7);
    assertThat(reader.held).hasSize(7);
    reader.settleAll(Outcome.DONE, false);
    run();
    assertThat(reader.held).hasSizeBetween(1, 7);
    for (int i = 0; i < 40; i++) {
      assertThat(reader.held.size()).isLessThanOrEqualTo(7);
      reader.settleAll(Outcome.DONE, false);
      run();
    }
    assertThat(reader.positions()).isEqualTo(range(1, 100));
  }

  @Test
  void aConsumerGetsNoMoreThanItsClientGrantsAndOthersGetTheRest() {
    buses.publish(40);
    Reader poor = one.consume(40, 1);
    one.run();
    assertThat(poor.got).as("one frame may pass the limit").hasSize(1);
    Reader rich = joined(two, 100);
    one.passMillis(2_000);
    run();
    two.passMillis(100);
    int has = poor.positions().size();
    assertThat(rich.positions()).hasSize(40 - has);
    poor.consumer.grant(ENOUGH);
    buses.publish(1);
    run();
    assertThat(poor.positions().size() + rich.positions().size()).isEqualTo(41);
  }

  @Test
  void whatCannotBeSentGoesBack() {
    buses.publish(40);
    Reader stuck = one.consume(40);
    stuck.room = false;
    one.run();
    assertThat(stuck.got).isEmpty();
    assertThat(buses.cursor().inFlight()).isPositive();
    Reader other = joined(two, 100);
    one.passMillis(1_500);
    stuck.leave(false);
    run();
    two.passMillis(200);
    assertThat(other.positions()).containsExactlyInAnyOrderElementsOf(range(1, 40));
    assertThat(other.got).allMatch(fed -> fed.attempt() == 1);
  }

  @Test
  void whatIsNotSettledInTimeComesAgainAndTheLateSettlementIsTold() {
    buses.publish(2);
    Reader reader = joined(one, 10);
    run();
    assertThat(reader.held).containsExactly(new Held(1, 1), new Held(2, 1));
    one.passMillis(TIMEOUT - 1_000);
    assertThat(reader.consumer.extend(2, 2, 1)).isTrue();
    one.passMillis(900);
    assertThat(reader.got).hasSize(2);
    one.passMillis(300);
    assertThat(reader.held).containsExactly(new Held(2, 1), new Held(1, 2));
    assertThat(reader.settle(new Held(1, 1), Outcome.DONE, true)).isEqualTo(Settled.LATE);
    assertThat(reader.settle(new Held(2, 1), Outcome.DONE, true)).isEqualTo(Settled.ACCEPTED);
    assertThat(reader.settle(new Held(1, 2), Outcome.DONE, true)).isEqualTo(Settled.ACCEPTED);
    run();
    assertThat(reader.settled).containsExactly(2L, 1L);
    assertThat(reader.settle(new Held(1, 2), Outcome.DONE, true)).isEqualTo(Settled.LATE);
    assertThat(buses.cursor().floor()).isEqualTo(2);
  }

  @Test
  void whatIsNotForTheFilterIsSettledByTheBus() {
    buses.filter = "orders.us";
    for (int i = 0; i < 30; i++) {
      buses.publish("orders.eu", 9);
      buses.publish("orders.us", 1);
    }
    Reader reader = joined(one, 4);
    for (int i = 0; i < 60; i++) {
      assertThat(reader.held.size()).isLessThanOrEqualTo(4);
      reader.settleAll(Outcome.DONE, false);
      run();
    }
    assertThat(reader.positions()).containsExactlyInAnyOrderElementsOf(buses.wanted);
    assertThat(buses.cursor().floor()).isEqualTo(300);
    assertThat(buses.cursor().dead()).isZero();
  }

  @Test
  void aSelectiveFilterTakesManyPositionsAtATime() {
    buses.filter = "orders.us";
    buses.publish("orders.eu", 30_000);
    buses.publish("orders.us", 1);
    int before = buses.journals.applied();
    Reader reader = joined(one, 16);
    assertThat(reader.positions()).containsExactly(30_001L);
    assertThat(buses.journals.applied() - before)
        .isLessThan(2 * 30_000 / SharedConsumer.MAX_EVENTS + 60);
  }

  @Test
  void holesAreToldAndSettled() {
    buses.publish(10);
    var unused = buses.journals.purge(1, "", 3, 5);
    Reader reader = joined(one, 10);
    for (int i = 0; i < 20; i++) {
      reader.settleAll(Outcome.DONE, false);
      run();
    }
    assertThat(reader.positions()).containsExactly(1L, 2L, 6L, 7L, 8L, 9L, 10L);
    assertThat(reader.truncated)
        .isNotEmpty()
        .allMatch(hole -> hole.getReason() == TruncatedReason.PURGED);
    assertThat(reader.truncated.get(0).getFrom()).isEqualTo(3);
    assertThat(buses.cursor().floor()).isEqualTo(10);
  }

  @Test
  void whatIsRetriedComesAtItsTimeAndWhatIsRejectedIsDead() {
    buses.publish(2);
    Reader reader = joined(one, 10);
    run();
    assertThat(reader.consumer.settle(1, 1, 1, Outcome.RETRY, 3_000, "busy", true))
        .isEqualTo(Settled.ACCEPTED);
    assertThat(reader.consumer.settle(2, 2, 1, Outcome.REJECT, -1, "broken", true))
        .isEqualTo(Settled.ACCEPTED);
    run();
    assertThat(reader.settled).containsExactly(1L, 2L);
    one.passMillis(2_500);
    assertThat(reader.got).hasSize(2);
    one.passMillis(1_000);
    assertThat(reader.got.get(2).positions()).containsExactly(1L);
    assertThat(reader.got.get(2).attempt()).isEqualTo(2);
    assertThat(buses.journals.deadEvents(1, "jobs", 0, 9))
        .singleElement()
        .satisfies(dead -> assertThat(dead.reason()).isEqualTo("broken"));
    assertThat(one.reads.timers()).as("timers of looks").isLessThanOrEqualTo(1);
  }

  @Test
  void theEventsOfALostConnectionComeToOthersAtOnceAndCount() {
    buses.publish(4);
    Reader first = joined(one, 10);
    run();
    assertThat(first.held).hasSize(4);
    Reader second = joined(two, 10);
    first.leave(true);
    run();
    assertThat(second.got).isNotEmpty().allMatch(fed -> fed.attempt() == 2);
    assertThat(second.held).hasSize(4);
    Reader third = joined(one, 10);
    second.leave(false);
    run();
    assertThat(third.got).isNotEmpty().allMatch(fed -> fed.attempt() == 2);
  }

  @Test
  void theEventsOfABusThatHasEndedComeToOthers() {
    buses.publish(4);
    Reader first = joined(one, 10);
    run();
    assertThat(first.held).hasSize(4);
    Reader second = joined(two, 10);
    two.passMillis(2_000);
    assertThat(second.got).as("the other bus lives").isEmpty();
    buses.living.remove(one.owner);
    two.passMillis(2_000);
    assertThat(second.held).hasSize(4);
    assertThat(buses.consumers()).hasSize(1);
    // The other bus was only thought to have ended.
    Settled unused = first.settle(first.held.get(0), Outcome.DONE, true);
    one.run();
    assertThat(first.code).isEqualTo(ErrorCode.REPLACED);
    assertThat(first.retryable).isTrue();
    assertThat(first.unsettled).isEqualTo(1);
  }

  @Test
  void anUnsubscribedConsumerEndsWhenItsEventsAreSettled() {
    buses.publish(4);
    Reader first = joined(one, 10);
    run();
    assertThat(first.held).hasSize(4);
    first.consumer.finish();
    run();
    assertThat(first.finished).isFalse();
    buses.publish(10);
    run();
    assertThat(first.held).as("no more").hasSize(4);
    first.settle(first.held.get(0), Outcome.DONE, false);
    first.settle(first.held.get(0), Outcome.RELEASE, false);
    run();
    assertThat(first.finished).isFalse();
    one.passMillis(TIMEOUT + 500);
    assertThat(first.finished).isTrue();
    assertThat(buses.consumers()).isEmpty();
    assertThat(buses.cursor().inFlight()).isZero();
    assertThat(buses.cursor().waiting()).isEqualTo(3);
  }

  @Test
  void anUnsubscribedConsumerEndsBehindTheAnswersToItsSettlements() {
    buses.publish(1);
    Reader first = joined(one, 10);
    run();
    first.consumer.finish();
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
  void anUnsubscribedConsumerGivesBackWhatItTakesMeanwhile() {
    Reader first = joined(one, 10);
    run();
    buses.publish(1);
    buses.journals.holds(true);
    run();
    first.consumer.finish();
    run();
    assertThat(first.finished).isFalse();
    buses.journals.holds(false);
    buses.journals.applyHeld();
    run();
    assertThat(first.got).isEmpty();
    assertThat(first.finished).isTrue();
    assertThat(buses.cursor().waiting()).isEqualTo(1);
  }

  @Test
  void anUnsubscribedConsumerEndsAlsoIfItFindsNoRoom() {
    Reader first = joined(one, 10);
    run();
    buses.publish(1);
    buses.journals.full(true);
    first.consumer.finish();
    run();
    buses.journals.full(false);
    run();
    assertThat(first.finished).isTrue();
  }

  @Test
  void eventsFromMemoryAreSettledInTimeOrComeAgain() {
    Reader first = joined(one, 10);
    run();
    buses.publish(1);
    run();
    assertThat(first.held).hasSize(1);
    one.passMillis(TIMEOUT + 500);
    run();
    assertThat(first.got).as("it comes again").hasSize(2);
  }

  @Test
  void aJoinAndALeaveWithoutAnswersAreDoneInTheEnd() {
    Reader first = joined(one, 10);
    Reader second = one.consume(10);
    one.reads.run();
    assertThat(one.loops.runOne(0)).as("asks for the cursor").isTrue();
    buses.journals.losesAnswers(true);
    one.run();
    assertThat(buses.consumers()).hasSize(2);
    assertThat(second.code).isEqualTo(ErrorCode.UNAVAILABLE);
    buses.journals.losesAnswers(false);
    buses.journals.unavailable(true);
    first.leave(false);
    one.run();
    buses.journals.unavailable(false);
    one.passMillis(2_000);
    assertThat(buses.consumers()).isEmpty();
    one.passMillis(70_000);
    assertThat(one.memory.used()).isZero();
    assertThat(one.reads.timers()).isZero();
  }

  @Test
  void aTakeWithoutAnAnswerEndsItsConsumerAndOthersGetTheEvents() {
    Reader first = joined(one, 10);
    Reader second = joined(two, 10);
    run();
    buses.publish(1);
    buses.journals.losesAnswers(true);
    one.run();
    buses.journals.losesAnswers(false);
    run();
    assertThat(first.code).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(first.retryable).isTrue();
    one.passMillis(1_000);
    run();
    assertThat(second.positions()).containsExactly(1L);
  }

  @Test
  void aConsumerThatFindsNoRoomAsksAgain() {
    Reader reader = joined(one, 10);
    run();
    buses.publish(1);
    buses.journals.full(true);
    run();
    assertThat(reader.code).isNull();
    assertThat(reader.got).isEmpty();
    buses.journals.full(false);
    one.passMillis(200);
    assertThat(reader.positions()).containsExactly(1L);
  }

  @Test
  void aConsumerWithoutEventsUsesItsSubscription() {
    Reader reader = joined(one, 10);
    run();
    long before = buses.cursor().stamp();
    buses.journals.passMillis(TimeUnit.HOURS.toMillis(2));
    reader.consumer.keepCursor();
    run();
    assertThat(buses.cursor().stamp() - before).isGreaterThanOrEqualTo(TimeUnit.HOURS.toMillis(2));
  }

  @Test
  void aSettlementWithoutAnAnswerIsToldAndSentAgain() {
    buses.publish(1);
    Reader reader = joined(one, 10);
    run();
    buses.journals.unavailable(true);
    reader.settleAll(Outcome.DONE, true);
    one.run();
    assertThat(reader.unsettled).isGreaterThanOrEqualTo(1);
    buses.journals.unavailable(false);
    one.passMillis(500);
    assertThat(buses.cursor().floor()).isEqualTo(1);
  }

  @Test
  void consumersOfAJournalThatIsDeletedEnd() {
    Reader first = joined(one, 10);
    Reader second = joined(one, 10);
    var unused = buses.journals.delete(1);
    one.run();
    assertThat(first.code).isEqualTo(ErrorCode.NO_JOURNAL);
    assertThat(second.code).isEqualTo(ErrorCode.NO_JOURNAL);
  }

  @Test
  void eventsThatAreOnlyOnTheDiskAreReadFromThere() {
    Bus slow = new Bus(buses, "slow/1", 0);
    Reader reader = slow.consume(20);
    slow.run();
    buses.publish(100);
    for (int i = 0; i < 100; i++) {
      slow.run();
      reader.settleAll(Outcome.DONE, false);
    }
    slow.run();
    assertThat(reader.positions()).isEqualTo(range(1, 100));
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
      buses.filter = random.nextBoolean() ? "orders.>" : "orders.us";
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
      switch (random.nextInt(20)) {
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
      buses.publish(random.nextBoolean() ? "orders.us" : "orders.eu", 1 + random.nextInt(20));
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
      for (int i = 0; i < 400 && !isSettled(); i++) {
        for (Bus bus : living) {
          bus.passMillis(1_000);
          bus.readers.removeIf(reader -> !reader.isOpen());
          bus.readers.forEach(reader -> reader.settleAll(Outcome.DONE, true));
          bus.run();
        }
      }
      CursorView cursor = buses.cursor();
      assertThat(isSettled())
          .as("%s, %s, the last: %s", cursor, buses.consumers(), last.code)
          .isTrue();
      Set<Long> dead = new HashSet<>();
      buses.journals.deadEvents(1, "jobs", 0, 10_000).forEach(each -> dead.add(each.position()));
      if (buses.attempts > STEPS) {
        assertThat(dead).isSubsetOf(buses.wanted);
      }
      assertThat(cursor.dead()).isEqualTo(dead.size());
      living.forEach(bus -> List.copyOf(bus.readers).forEach(reader -> reader.leave(false)));
      living.forEach(bus -> bus.passMillis(70_000));
      assertThat(buses.consumers()).isEmpty();
      for (Bus bus : living) {
        assertThat(bus.memory.used()).isZero();
        assertThat(bus.reads.timers()).isZero();
      }
    }

    private boolean isSettled() {
      CursorView cursor = buses.journals.cursor(1, "jobs");
      return cursor != null
          && cursor.head() == buses.last
          && cursor.inFlight() == 0
          && cursor.waiting() == 0;
    }
  }

  @Test
  void everyEventIsSettledOrDeadWhateverHappens() {
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
