package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.ErrorCode;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.SampleFrames.Fed;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Consumers of one durable subscription at several buses, which share the journals. */
class ExclusiveCursorTest {
  private static final int SEEDS = 300;
  private static final int STEPS = 150;

  /** Ticks within which a consumer takes a cursor over that it may have. */
  private static final int TICKS = 7;

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
    long last;
    // The last position whose settlement was confirmed.
    long confirmed;

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

    void publish() {
      last++;
      FakeEvents.publish(journals, 1, "orders.eu", last, "" + last);
    }

    void close() {
      frames.forEach(DeliveryAllocator::close);
    }

    CursorView cursor() {
      return Objects.requireNonNull(journals.cursor(1, "billing"));
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
              1 << 20);
    }

    Reader consume() {
      Reader reader = new Reader(this);
      readers.add(reader);
      reader.consumer.start();
      return reader;
    }

    /** Runs what can run without more time. */
    void run() {
      while (reads.waiting() > 0 || loops.waiting(0) > 0) {
        reads.run();
        loops.runAll();
      }
    }

    void tick() {
      reads.passMillis(CursorLooks.TICK_MILLIS);
      run();
    }

    void ticks(int count) {
      for (int i = 0; i < count; i++) {
        tick();
      }
    }

    long feeding() {
      return readers.stream().filter(reader -> reader.feeding).count();
    }
  }

  /** Connection with one consumer. */
  private static final class Reader implements JournalConsumer.Line {
    final Bus bus;
    final DeliveryAllocator frames;
    final OrderedConsumer consumer;
    final List<String> got = new ArrayList<>();
    boolean feeding;
    boolean left;
    long next;
    @Nullable ErrorCode code;

    Reader(Bus bus) {
      this.bus = bus;
      frames = new DeliveryAllocator(bus.buses.allocator, bus.memory);
      bus.buses.frames.add(frames);
      JournalInfo journal = Objects.requireNonNull(bus.all.find("", "orders"));
      consumer =
          new OrderedConsumer(
              bus.all,
              journal,
              new JournalConsumer.Wish(
                  1, TopicFilter.parse("orders.>"), "billing", ConsumeStart.FIRST, 0, 1 << 20),
              this);
    }

    void leave() {
      left = true;
      feeding = false;
      consumer.end();
    }

    @Override
    public int loop() {
      return 0;
    }

    @Override
    public long connection() {
      return 1L + bus.readers.indexOf(this);
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
      return true;
    }

    @Override
    public void end(JournalConsumer which) {}

    @Override
    public void send(Delivery frame, int events) {
      assertThat(left || code != null).as("ended").isFalse();
      Fed fed = (Fed) SampleFrames.read(frame.frame()).get(0);
      frame.release();
      if (feeding) {
        assertThat(fed.from()).isEqualTo(next);
      } else {
        feeding = true;
        assertThat(fed.to())
            .as("begins behind what was confirmed as settled")
            .isGreaterThanOrEqualTo(bus.buses.confirmed);
      }
      next = fed.to() + 1;
      got.addAll(fed.payloads());
    }

    @Override
    public void tickSoon(JournalConsumer which) {}

    @Override
    public void opened() {}

    @Override
    public void accepted(JournalConsumer which) {}

    @Override
    public void ended(JournalConsumer which, ErrorCode why, String message, boolean retryable) {
      code = why;
      feeding = false;
    }

    @Override
    public void finished(JournalConsumer which) {}

    @Override
    public void settled(JournalConsumer which, long upTo) {
      bus.buses.confirmed = Math.max(bus.buses.confirmed, upTo);
    }

    @Override
    public void unsettled(JournalConsumer which, String message) {}

    @Override
    public void failed() {
      throw new AssertionError("no memory");
    }
  }

  private Reader feeding(Bus bus) {
    Reader reader = bus.consume();
    bus.run();
    assertThat(reader.feeding).isTrue();
    return reader;
  }

  @Test
  void aConsumerOfAnotherBusStandsByWhileTheOwnerLives() {
    buses.publish();
    Reader first = feeding(one);
    Reader second = two.consume();
    two.run();
    int applied = buses.journals.applied();
    int ran = two.reads.ran();

    two.ticks(50);

    assertThat(second.feeding).isFalse();
    assertThat(second.code).isNull();
    assertThat(buses.journals.applied()).as("nothing is written").isEqualTo(applied);
    // A look in 500 ms, and the timer.
    assertThat(two.reads.ran() - ran).isBetween(50 + 8, 50 + 10);
    buses.publish();
    one.run();
    assertThat(first.got).containsExactly("1", "2");
  }

  @Test
  void aConsumerOfAnotherBusTakesOverWhenTheLastHasLeft() {
    for (int i = 0; i < 3; i++) {
      buses.publish();
    }
    Reader first = feeding(one);
    Reader next = one.consume();
    Reader second = two.consume();
    one.run();
    two.ticks(TICKS);
    assertThat(first.consumer.settle(1, true)).isTrue();
    first.leave();
    one.run();
    two.ticks(TICKS);
    assertThat(next.got).as("the next of the same bus").containsExactly("2", "3");
    assertThat(second.feeding).isFalse();

    buses.journals.holds(true);
    assertThat(next.consumer.settle(2, false)).isTrue();
    assertThat(next.consumer.settle(3, false)).as("waits for the answer").isTrue();
    next.leave();
    buses.journals.holds(false);
    buses.journals.applyHeld();
    assertThat(buses.cursor().owner()).isEmpty();
    two.ticks(TICKS);

    assertThat(second.feeding).isTrue();
    assertThat(second.got).isEmpty();
    assertThat(second.next).as("behind the last settlement").isEqualTo(4);
    assertThat(buses.cursor().owner()).isEqualTo("two/1");
    assertThat(two.reads.timers()).as("nobody waits").isZero();
    assertThat(one.memory.used()).isZero();
    assertThat(one.reads.told())
        .containsExactly(
            new Advisory.ConsumerChanged("", "orders", "billing", 1, 2),
            new Advisory.ConsumerChanged("", "orders", "billing", 2, 3));
    assertThat(two.reads.told())
        .containsExactly(new Advisory.ConsumerChanged("", "orders", "billing", 1, 4));
  }

  @Test
  void aConsumerOfAnotherBusTakesOverWhenTheOwnerIsGone() {
    buses.publish();
    Reader first = feeding(one);
    Reader second = two.consume();
    two.ticks(TICKS);
    assertThat(second.feeding).isFalse();

    buses.living.remove("one/1");
    two.ticks(TICKS);
    assertThat(second.got).containsExactly("1");
    assertThat(second.consumer.settle(1, true)).isTrue();
    two.run();
    assertThat(buses.confirmed).isEqualTo(1);

    // It was not gone: it was only not heard of.
    buses.living.add("one/1");
    Reader third = one.consume();
    assertThat(first.consumer.settle(1, true)).isTrue();
    one.run();
    assertThat(first.code).isEqualTo(ErrorCode.REPLACED);
    one.ticks(TICKS);
    assertThat(third.feeding).as("no ping-pong").isFalse();
    assertThat(third.code).isNull();
    third.leave();
    one.run();
    assertThat(buses.cursor().owner()).as("not released by a stranger").isEqualTo("two/1");
    assertThat(one.memory.used()).isZero();
  }

  @Test
  void aBusThatIsStartedAgainHasItsCursorsAtOnce() {
    buses.publish();
    Reader unused = feeding(one);
    buses.living.remove("one/1");
    Bus again = new Bus(buses, "one/2");
    assertThat(feeding(again).got).containsExactly("1");
  }

  @Test
  void aCursorIsReleasedAlsoWhenAnAnswerIsLost() {
    buses.publish();
    Reader first = feeding(one);
    Reader second = two.consume();
    two.ticks(TICKS);
    buses.journals.unavailable(true);
    first.leave();
    one.ticks(TICKS);
    assertThat(buses.cursor().owner()).isEqualTo("one/1");
    buses.journals.unavailable(false);
    one.ticks(TICKS);
    two.ticks(TICKS);
    assertThat(second.feeding).as("the release was tried again").isTrue();

    buses.journals.losesAnswers(true);
    second.leave();
    Reader third = one.consume();
    one.run();
    assertThat(third.code).isEqualTo(ErrorCode.UNAVAILABLE);
    buses.journals.losesAnswers(false);
    one.ticks(TICKS);
    two.ticks(TICKS);
    assertThat(buses.cursor().owner()).isEmpty();
    assertThat(one.memory.used() + two.memory.used()).isZero();
  }

  @Test
  void aCursorOfWhichNobodyHeardIsReleased() {
    buses.publish();
    Reader first = one.consume();
    one.reads.run();
    // The cursor is created; then the answer to the request for it is lost.
    assertThat(one.loops.runOne(0)).isTrue();
    buses.journals.losesAnswers(true);
    one.run();
    buses.journals.losesAnswers(false);
    assertThat(first.code).isEqualTo(ErrorCode.UNAVAILABLE);
    one.ticks(TICKS);
    assertThat(buses.cursor().owner()).isEmpty();
    assertThat(one.memory.used()).isZero();
  }

  @Test
  void aConsumerThatComesDuringTheReleaseHasTheCursorAgain() {
    buses.publish();
    Reader first = feeding(one);
    buses.journals.holds(true);
    first.leave();
    Reader second = one.consume();
    one.run();
    buses.journals.holds(false);
    for (int i = 0; i < 3; i++) {
      buses.journals.applyHeld();
      one.run();
    }
    assertThat(second.got).containsExactly("1");
    assertThat(buses.cursor().owner()).isEqualTo("one/1");
  }

  @Test
  void aReleaseOfWhichTheAnswerComesLateDoesNotHarmTheNextConsumer() {
    buses.publish();
    Reader first = feeding(one);
    buses.journals.delaysAnswers(true);
    first.leave();
    buses.journals.delaysAnswers(false);
    Reader second = one.consume();
    Reader third = one.consume();
    one.run();
    assertThat(second.feeding).as("the release is not answered").isFalse();
    second.leave();
    one.run();
    assertThat(third.feeding).as("the release is not answered").isFalse();
    buses.journals.answer(0);
    one.run();
    assertThat(third.feeding).isTrue();
    assertThat(third.consumer.settle(1, true)).isTrue();
    one.run();
    assertThat(buses.confirmed).isEqualTo(1);
    third.leave();
    assertThat(buses.cursor().owner()).isEmpty();
    assertThat(one.memory.used()).isZero();
  }

  @Test
  void aCursorWhoseConsumerHasLeftBeforeTheAnswerIsReleased() {
    buses.publish();
    Reader first = one.consume();
    one.reads.run();
    assertThat(one.loops.runOne(0)).isTrue();
    buses.journals.delaysAnswers(true);
    one.run();
    first.leave();
    assertThat(buses.cursor().owner()).isEqualTo("one/1");
    buses.journals.delaysAnswers(false);
    buses.journals.answer(0);
    assertThat(buses.cursor().owner()).isEmpty();
    assertThat(one.memory.used()).isZero();
  }

  @Test
  void aConsumerThatLeavesIsNotLookedForAgain() {
    Reader unused = feeding(one);
    Reader second = two.consume();
    two.run();
    assertThat(two.all.looks().waiting()).isEqualTo(1);
    second.leave();
    assertThat(two.all.looks().waiting()).isZero();
  }

  /** Run of one seed: buses that die and start, consumers that come and go, lost answers. */
  private static final class Model {
    final Random random;
    final Buses buses = new Buses();
    final List<Bus> living = new ArrayList<>();
    boolean holds;
    boolean loses;
    boolean unavailable;
    boolean delays;
    int lives;

    Model(long seed) {
      random = new Random(seed);
      start();
      start();
    }

    private void start() {
      lives++;
      living.add(new Bus(buses, "bus/" + lives));
    }

    private Bus any() {
      return living.get(random.nextInt(living.size()));
    }

    void step() {
      Bus bus = any();
      switch (random.nextInt(20)) {
        case 0, 1 -> publish();
        case 2 -> {
          if (bus.readers.size() < 3) {
            Reader unused = bus.consume();
          }
        }
        case 3 -> withReader(bus, reader -> remove(bus, reader));
        case 4, 5 -> withReader(bus, this::settle);
        case 6, 7, 8 -> bus.reads.run();
        case 9, 10, 11 -> {
          boolean unused = bus.loops.runOne(0);
        }
        case 12, 13 -> bus.reads.passMillis(random.nextInt(400));
        case 14, 15 -> fault();
        case 16, 17, 18 -> answer();
        default -> {
          if (random.nextInt(4) == 0) {
            die(bus);
          } else {
            buses.journals.applyHeld();
          }
        }
      }
      bus.readers.removeIf(reader -> reader.code != null);
      check();
    }

    private void withReader(Bus bus, Consumer<Reader> task) {
      if (!bus.readers.isEmpty()) {
        task.accept(bus.readers.get(random.nextInt(bus.readers.size())));
      }
    }

    private void remove(Bus bus, Reader reader) {
      bus.readers.remove(reader);
      reader.leave();
    }

    private void settle(Reader reader) {
      if (reader.feeding && reader.next > 1) {
        boolean unused =
            reader.consumer.settle(random.nextLong(1, reader.next), random.nextBoolean());
      }
    }

    private void fault() {
      switch (random.nextInt(4)) {
        case 0 -> holds = random.nextBoolean();
        case 1 -> loses = random.nextInt(3) == 0;
        case 2 -> delays = random.nextBoolean();
        default -> unavailable = random.nextInt(3) == 0;
      }
      setFaults(holds, loses, unavailable);
      buses.journals.delaysAnswers(delays);
    }

    private void answer() {
      if (buses.journals.delayed() > 0) {
        buses.journals.answer(random.nextInt(buses.journals.delayed()));
      }
    }

    private void setFaults(boolean hold, boolean lose, boolean fail) {
      buses.journals.holds(hold);
      buses.journals.losesAnswers(lose);
      buses.journals.unavailable(fail);
    }

    /** Publishes an event, whatever becomes of what consumers ask for. */
    private void publish() {
      setFaults(false, false, false);
      buses.journals.delaysAnswers(false);
      buses.publish();
      setFaults(holds, loses, unavailable);
      buses.journals.delaysAnswers(delays);
    }

    private void die(Bus bus) {
      buses.living.remove(bus.owner);
      living.remove(bus);
      start();
    }

    private void check() {
      assertThat(living.stream().mapToLong(Bus::feeding).sum())
          .as("consumers that get events")
          .isLessThanOrEqualTo(1);
    }

    void finish() {
      setFaults(false, false, false);
      buses.journals.delaysAnswers(false);
      Reader last = living.get(0).consume();
      settleDown();
      buses.publish();
      settleDown();
      check();
      Reader feeding =
          living.stream()
              .flatMap(bus -> bus.readers.stream())
              .filter(reader -> reader.feeding)
              .findFirst()
              .orElseThrow(() -> new AssertionError("nobody gets events, nor does " + last.code));
      assertThat(feeding.next).isEqualTo(buses.last + 1);
      assertThat(buses.cursor().owner()).isEqualTo(feeding.bus.owner);
      for (Bus bus : living) {
        List.copyOf(bus.readers).forEach(reader -> remove(bus, reader));
      }
      settleDown();
      assertThat(buses.cursor().owner()).isEmpty();
      for (Bus bus : living) {
        assertThat(bus.memory.used()).isZero();
        assertThat(bus.reads.timers()).isZero();
      }
    }

    /** Lets everything happen that a bounded number of ticks allows. */
    private void settleDown() {
      while (buses.journals.delayed() > 0) {
        answer();
      }
      for (int i = 0; i < 3 * TICKS; i++) {
        buses.journals.applyHeld();
        living.forEach(Bus::tick);
        living.forEach(bus -> bus.readers.removeIf(reader -> reader.code != null));
      }
    }
  }

  @Test
  void oneConsumerGetsTheEventsWhateverHappens() {
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
