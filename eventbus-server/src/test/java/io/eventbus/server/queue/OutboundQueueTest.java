package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.DropReason;
import io.eventbus.server.transport.QueueHandler;
import io.eventbus.server.transport.Wire;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OutboundQueueTest {
  private static final long PRODUCER = 3;
  private static final long BOUND = 40 * 1024;

  private final Wire wire = new Wire(Wire.smallQueue());
  private final OutboundQueue queue;
  private final QueueHandler handler;
  private final AtomicInteger woken = new AtomicInteger();
  private long clock = System.nanoTime();

  OutboundQueueTest() {
    handler = wire.connectQueue();
    queue = handler.queue;
  }

  @AfterEach
  void everythingIsGivenBack() {
    wire.assertNothingHeld();
  }

  private void offer(String topic, long sequence, String key, int bytes, Overflow overflow) {
    Delivery d =
        SampleFrames.delivery(
            wire.allocator,
            wire.memory,
            topic,
            PRODUCER,
            sequence,
            clock,
            List.of(new SampleFrames.Event(key, "x".repeat(bytes))));
    queue.offer(d, overflow);
    d.release();
  }

  private void offer(String topic, long sequence, int bytes, Overflow overflow) {
    offer(topic, sequence, "k" + sequence, bytes, overflow);
  }

  /** Fills the buffers before the queue: the socket and those that belong to it. */
  private long stickAndFill(String topic, Overflow overflow) {
    wire.stick();
    long sequence = 0;
    do {
      offer(topic, ++sequence, 2000, overflow);
      wire.run();
    } while (queue.isEmpty());
    return sequence;
  }

  private static List<Long> sequences(List<Object> frames, String topic) {
    return frames.stream()
        .filter(f -> f instanceof SampleFrames.Delivered d && d.topic().equals(topic))
        .map(f -> ((SampleFrames.Delivered) f).sequence())
        .toList();
  }

  private static List<Long> upTo(long last) {
    return LongStream.rangeClosed(1, last).boxed().toList();
  }

  @Test
  void aRoundOfSmallDeliveriesIsOneMessage() {
    for (int i = 1; i <= 5; i++) {
      offer("t", i, 10, Overflow.BLOCK);
    }
    assertThat(queue.isEmpty()).as("written at the end of the round").isFalse();
    List<Object> written = wire.written();
    assertThat(written).hasSize(1);
    assertThat(wire.stats.messagesOut.get()).isEqualTo(1);
    assertThat(wire.stats.eventsOut.get()).isEqualTo(5);
    assertThat(wire.stats.deliveries.get()).isEqualTo(5);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void smallOnesShareMessagesUpToABoundAndLargeOnesGoAlone() {
    List<Integer> sizes = new ArrayList<>();
    for (int i = 1; i <= 30; i++) {
      offer("t", i, i == 10 ? 17_000 : 3_000, Overflow.BLOCK);
    }
    wire.run();
    List<Object> written = wire.written();
    List<Object> frames = new ArrayList<>();
    for (Object o : written) {
      Wire.Message m = (Wire.Message) o;
      List<Object> inside = SampleFrames.read(m.payload());
      assertThat(m.payload().remaining()).isLessThanOrEqualTo(64 * 1024);
      sizes.add(inside.size());
      frames.addAll(inside);
    }
    assertThat(sequences(frames, "t")).isEqualTo(upTo(30));
    assertThat(sizes).containsExactly(9, 1, 20);
    // Half a message of 64 KiB would have done for all: small frames are copied only once.
    assertThat(wire.stats.bytesOut.get())
        .isEqualTo(
            written.stream().mapToLong(o -> 4L + ((Wire.Message) o).payload().remaining()).sum());
  }

  @ParameterizedTest
  @EnumSource(
      value = Overflow.class,
      names = {"DROP_OLDEST", "DISCONNECT", "CONFLATE"})
  void aClientThatTakesAllLosesNothingInABurstThatIsLargerThanItsQueue(Overflow overflow) {
    for (int i = 1; i <= 200; i++) {
      offer("t", i, "same", 2_000, overflow);
    }
    assertThat(sequences(wire.frames(), "t")).isEqualTo(upTo(200));
    assertThat(queue.dropped()).isZero();
    assertThat(wire.isOpen()).isTrue();
  }

  @Test
  void aGapIsToldBeforeALaterEventUnderAnotherPolicy() {
    long next = stickAndFill("b", Overflow.BLOCK);
    while (queue.bytes() < 40 * 1024) {
      offer("b", ++next, 2_000, Overflow.BLOCK);
    }
    offer("t", 1, 2_000, Overflow.DROP_OLDEST);
    offer("t", 2, 2_000, Overflow.BLOCK);
    wire.unstick();
    List<Object> ofTopic =
        wire.frames().stream()
            .filter(
                f ->
                    (f instanceof Gap g && g.getTopic().equals("t"))
                        || (f instanceof SampleFrames.Delivered d && d.topic().equals("t")))
            .toList();
    assertThat(ofTopic).hasSize(2);
    assertThat(ofTopic.get(0)).isInstanceOf(Gap.class);
    assertThat(sequences(ofTopic, "t")).containsExactly(2L);
  }

  @Test
  void untoldGapsCountAsMemory() {
    long last = stickAndFill("t", Overflow.DROP_OLDEST);
    for (int i = 0; i < 100; i++) {
      offer("u" + i, 1, 2_000, Overflow.DROP_OLDEST);
    }
    assertThat(last).isPositive();
    assertThat(queue.dropped()).isPositive();
    long held = queue.bytes();
    for (int i = 0; i < 100; i++) {
      offer("v" + i, 1, 2_000, Overflow.DROP_OLDEST);
    }
    assertThat(queue.bytes()).as("a range for each topic").isGreaterThan(held + 50 * 512);
  }

  @Test
  void blockLosesNothingStopsAndGoesOnAtHalf() {
    long filled = stickAndFill("t", Overflow.BLOCK);
    long last = filled;
    while (!queue.isFull()) {
      offer("t", ++last, 1000, Overflow.BLOCK);
    }
    assertThat(queue.bytes()).isBetween(BOUND, BOUND + 2000);
    queue.whenNotFull(woken::incrementAndGet);
    // Deliveries on their way already.
    offer("t", ++last, 1000, Overflow.BLOCK);
    wire.run();
    assertThat(woken).hasValue(0);
    wire.unstick();
    assertThat(woken).hasValue(1);
    assertThat(queue.isFull()).isFalse();
    assertThat(sequences(wire.frames(), "t")).isEqualTo(upTo(last));
    assertThat(queue.dropped()).isZero();
    assertThat(queue.delivered()).isEqualTo(last);
    queue.whenNotFull(woken::incrementAndGet);
    assertThat(woken).as("at once").hasValue(2);
  }

  @Test
  void blockEndsAfterTheDeadline() {
    stickAndFill("t", Overflow.BLOCK);
    long sequence = 1000;
    while (!queue.isFull()) {
      offer("t", ++sequence, 1000, Overflow.BLOCK);
    }
    queue.whenNotFull(woken::incrementAndGet);
    long now = System.nanoTime();
    wire.tick(now + TimeUnit.SECONDS.toNanos(9));
    assertThat(handler.tooSlow).isEmpty();
    wire.tick(now + TimeUnit.SECONDS.toNanos(11));
    assertThat(handler.tooSlow).hasSize(1);
    assertThat(handler.tooSlow.get(0)).contains(" bytes in 10s;");
    assertThat(woken).as("publishers go on").hasValue(1);
    assertThat(queue.isFull()).isFalse();
    assertThat(wire.stats.drops(DropReason.DISCONNECTED).get()).isPositive();
    offer("t", ++sequence, 10, Overflow.BLOCK);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void aClientThatComesAgainHasTheBudgetForHoldingThatItHadBefore() {
    BlockBudgets budgets = new BlockBudgets(Duration.ofSeconds(5));
    BlockBudgets.Shared before = budgets.acquire("", System.nanoTime());
    before.charge(TimeUnit.SECONDS.toNanos(5));
    budgets.release(before, System.nanoTime());
    Wire other = new Wire(budgets, Wire.smallQueue());
    QueueHandler again = other.connectQueue();
    other.stick();
    for (int i = 1; i <= 200; i++) {
      Delivery d =
          SampleFrames.delivery(
              other.allocator,
              other.memory,
              "t",
              PRODUCER,
              i,
              clock,
              List.of(new SampleFrames.Event("k", "x".repeat(2_000))));
      again.queue.offer(d, Overflow.BLOCK);
      d.release();
      other.run();
      assertThat(again.queue.isFull()).isFalse();
    }
    assertThat(again.stalledTooLong).hasSize(1);
    assertThat(again.queue.dropped()).isPositive();
    assertThat(again.queue.bytes()).isLessThanOrEqualTo(BOUND + 512);
    again.queue.close();
    assertThat(budgets.size()).isEqualTo(1);
    other.assertNothingHeld();
  }

  @Test
  void aStallIsChargedWhenTheQueueCloses() {
    BlockBudgets budgets = new BlockBudgets(Duration.ofNanos(1));
    Wire other = new Wire(budgets, Wire.smallQueue());
    QueueHandler leaving = other.connectQueue();
    other.stick();
    for (int i = 1; !leaving.queue.isFull(); i++) {
      Delivery d =
          SampleFrames.delivery(
              other.allocator,
              other.memory,
              "t",
              PRODUCER,
              i,
              clock,
              List.of(new SampleFrames.Event("k", "x".repeat(2_000))));
      leaving.queue.offer(d, Overflow.BLOCK);
      d.release();
      other.run();
    }
    leaving.queue.close();
    long now = System.nanoTime();
    assertThat(budgets.acquire("", now).isUsedUp(now + TimeUnit.SECONDS.toNanos(1))).isTrue();
    other.assertNothingHeld();
  }

  @Test
  void theOldestGoAndAreToldBeforeTheNext() {
    long filled = stickAndFill("t", Overflow.DROP_OLDEST);
    long last = filled;
    for (int i = 0; i < 100; i++) {
      offer("t", ++last, 1000, Overflow.DROP_OLDEST);
      assertThat(queue.bytes()).isLessThanOrEqualTo(BOUND + 512);
    }
    assertThat(queue.isFull()).as("publishers need not wait").isFalse();
    wire.unstick();
    List<Object> frames = wire.frames();
    List<Gap> gaps = frames.stream().filter(Gap.class::isInstance).map(Gap.class::cast).toList();
    assertThat(gaps).hasSize(1);
    Gap gap = gaps.get(0);
    assertThat(gap.getTopic()).isEqualTo("t");
    assertThat(gap.getProducer()).isEqualTo(PRODUCER);
    assertThat(gap.getReason()).isEqualTo(GapReason.QUEUE_FULL);
    List<Long> got = sequences(frames, "t");
    List<Long> expected = new ArrayList<>(upTo(gap.getFrom() - 1));
    LongStream.rangeClosed(gap.getTo() + 1, last).forEach(expected::add);
    assertThat(got).isEqualTo(expected);
    assertThat(frames.indexOf(gap)).isEqualTo((int) (gap.getFrom() - 1));
    assertThat(queue.dropped()).isEqualTo(gap.getTo() - gap.getFrom() + 1);
    assertThat(wire.stats.drops(DropReason.QUEUE_FULL).get()).isEqualTo(queue.dropped());
    assertThat(wire.stats.gaps.get()).isEqualTo(1);
  }

  @Test
  void aNewOneThatFindsNoRoomIsDroppedAndToldBehind() {
    long filled = stickAndFill("must", Overflow.BLOCK);
    long last = filled;
    while (!queue.isFull()) {
      offer("must", ++last, 1000, Overflow.BLOCK);
    }
    offer("may", 1, 1000, Overflow.DROP_OLDEST);
    offer("may", 2, 1000, Overflow.DROP_OLDEST);
    wire.unstick();
    List<Object> frames = wire.frames();
    assertThat(sequences(frames, "must")).isEqualTo(upTo(last));
    assertThat(frames.get(frames.size() - 1))
        .isEqualTo(new Gap("may", PRODUCER, 1L, 2L, GapReason.QUEUE_FULL));
    assertThat(queue.dropped()).isEqualTo(2);
  }

  @Test
  void ofEachKeyTheLastIsKept() {
    long filled = stickAndFill("t", Overflow.CONFLATE);
    long last = filled;
    for (int i = 0; i < 300; i++) {
      last++;
      offer("t", last, "key " + last % 4, 1000, Overflow.CONFLATE);
    }
    assertThat(queue.isFull()).isFalse();
    assertThat(queue.bytes()).isLessThanOrEqualTo(2 * BOUND);
    wire.unstick();
    List<Object> frames = wire.frames();
    List<Long> got = sequences(frames, "t");
    assertThat(got).isSorted().doesNotHaveDuplicates();
    assertThat(got.subList(got.size() - 4, got.size()))
        .containsExactly(last - 3, last - 2, last - 1, last);
    long told =
        frames.stream()
            .filter(Gap.class::isInstance)
            .mapToLong(f -> ((Gap) f).getTo() - ((Gap) f).getFrom() + 1)
            .sum();
    assertThat(told).isEqualTo(last - got.size()).isEqualTo(queue.dropped());
    assertThat(wire.stats.drops(DropReason.CONFLATED).get()).isEqualTo(told);
  }

  @Test
  void waitingEventsAreConflatedFromTheFirst() {
    long filled = stickAndFill("t", Overflow.CONFLATE);
    for (int i = 1; i <= 3; i++) {
      offer("t", filled + i, "key", 10, Overflow.CONFLATE);
    }
    wire.unstick();
    List<Object> frames = wire.frames();
    assertThat(frames.subList(frames.size() - 2, frames.size()).get(0))
        .isEqualTo(new Gap("t", PRODUCER, filled + 1, filled + 2, GapReason.CONFLATED));
    assertThat(sequences(frames.subList(frames.size() - 1, frames.size()), "t"))
        .containsExactly(filled + 3);
  }

  @Test
  void aGapIsToldAlsoWhenItsProducerComesAfterTheLastKeptEvent() {
    long filled = stickAndFill("t", Overflow.CONFLATE);
    long last = filled;
    while (queue.bytes() < BOUND - 2500) {
      offer("t", ++last, 1000, Overflow.CONFLATE);
    }
    offer("t", ++last, "same", 2000, Overflow.CONFLATE);
    offer("t", ++last, "same", 2000, Overflow.CONFLATE);
    // Another producer's event takes the place.
    Delivery other =
        SampleFrames.delivery(
            wire.allocator,
            wire.memory,
            "t",
            PRODUCER + 1,
            1,
            clock,
            List.of(new SampleFrames.Event("same", "y".repeat(2000))));
    queue.offer(other, Overflow.CONFLATE);
    other.release();
    offer("t", ++last, 10, Overflow.CONFLATE);
    wire.unstick();
    offer("t", ++last, 10, Overflow.CONFLATE);
    checkNothingMissing(wire.frames(), last);
  }

  /**
   * Checks that each number up to the last is delivered or told, and told before what follows it.
   */
  private static void checkNothingMissing(List<Object> frames, long last) {
    List<Long> missing = new ArrayList<>(upTo(last));
    for (Object frame : frames) {
      if (frame instanceof Gap gap && gap.getProducer() == PRODUCER) {
        for (long n = gap.getFrom(); n <= gap.getTo(); n++) {
          assertThat(missing.remove(n)).as("%d told once", n).isTrue();
        }
      } else if (frame instanceof SampleFrames.Delivered d && d.producer() == PRODUCER) {
        assertThat(missing.remove(d.sequence())).as("%d delivered once", d.sequence()).isTrue();
        assertThat(missing.stream().filter(n -> n < d.sequence()))
            .as("not told before %d", d.sequence())
            .isEmpty();
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void disconnectEndsTheConnectionWhenItIsFull() {
    long filled = stickAndFill("t", Overflow.DISCONNECT);
    long last = filled;
    for (int i = 0; i < 100; i++) {
      offer("t", ++last, 1000, Overflow.DISCONNECT);
    }
    assertThat(handler.tooSlow).hasSize(1);
    assertThat(handler.tooSlow.get(0)).contains("DISCONNECT").contains("read faster");
    assertThat(queue.bytes()).isZero();
    wire.unstick();
    List<Object> frames = wire.frames();
    assertThat(frames.get(frames.size() - 1))
        .isInstanceOfSatisfying(Wire.Close.class, c -> assertThat(c.code()).isEqualTo(4001));
    assertThat(wire.stats.drops(DropReason.DISCONNECTED).get() + wire.stats.eventsOut.get())
        .as("each event was written or counted as lost")
        .isGreaterThanOrEqualTo(last - 1);
  }

  @Test
  void tooManyGapsEndTheConnectionAndNothingElse() {
    long filled = stickAndFill("first", Overflow.DROP_OLDEST);
    assertThat(filled).isPositive();
    // Control frames at the head, so that the queue has to look behind them.
    queue.send(ControlFrames.encode(TypeCode.DRAINED, new Drained(1L)));
    for (int i = 0; i < 11_000 && handler.tooSlow.isEmpty(); i++) {
      offer("topic." + i, 1, 1000, Overflow.DROP_OLDEST);
    }
    assertThat(handler.tooSlow).hasSize(1);
    assertThat(handler.tooSlow.get(0)).contains("10000 gaps");
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void framesThatAreNotDeliveriesAreNeverDropped() {
    stickAndFill("t", Overflow.DROP_OLDEST);
    for (long i = 1; i <= 50; i++) {
      queue.send(ControlFrames.encode(TypeCode.DRAINED, new Drained(i)));
      offer("t", 1000 + i, 2000, Overflow.DROP_OLDEST);
    }
    wire.unstick();
    List<Long> drained =
        wire.frames().stream()
            .filter(Drained.class::isInstance)
            .map(f -> ((Drained) f).getId())
            .toList();
    assertThat(drained).isEqualTo(upTo(50));
  }

  @Test
  void drainedWaitsForKeptEvents() {
    long last = stickAndFill("t", Overflow.CONFLATE);
    while (queue.bytes() < BOUND - 2500) {
      offer("t", ++last, 1000, Overflow.CONFLATE);
    }
    queue.sendLast(ControlFrames.encode(TypeCode.DRAINED, new Drained(1L)));
    long before = last;
    // Even where what is kept has to make room.
    for (int i = 0; i < 60; i++) {
      offer("u", i + 1, 1000, Overflow.CONFLATE);
    }
    queue.sendLast(ControlFrames.encode(TypeCode.DRAINED, new Drained(2L)));
    wire.unstick();
    List<Object> frames = wire.frames();
    checkNothingMissing(
        frames.stream()
            .filter(f -> !(f instanceof SampleFrames.Delivered d && d.topic().equals("u")))
            .filter(f -> !(f instanceof Gap g && g.getTopic().equals("u")))
            .toList(),
        before);
    int first = frames.indexOf(new Drained(1L));
    assertThat(sequences(frames.subList(first, frames.size()), "t")).isEmpty();
    assertThat(sequences(frames.subList(0, first), "u")).isEmpty();
    int second = frames.indexOf(new Drained(2L));
    assertThat(frames.subList(second + 1, frames.size())).allMatch(Gap.class::isInstance);
  }

  @Test
  void aFrameThatIsKeptIsFreedWithTheConnection() {
    long last = stickAndFill("t", Overflow.CONFLATE);
    while (queue.bytes() < BOUND - 2500) {
      offer("t", ++last, 1000, Overflow.CONFLATE);
    }
    queue.sendLast(ControlFrames.encode(TypeCode.DRAINED, new Drained(1L)));
    long written = wire.stats.eventsOut.get();
    queue.close();
    assertThat(wire.stats.drops(DropReason.DISCONNECTED).get())
        .isEqualTo(last - written - queue.dropped());
  }

  @Test
  void aClientThatDoesNotReadItsAnswersIsNotServed() {
    stickAndFill("t", Overflow.BLOCK);
    byte[] answer = ControlFrames.encode(TypeCode.DRAINED, new Drained(1L));
    assertThat(queue.mustWait(woken::incrementAndGet)).isFalse();
    int answers = 0;
    while (!queue.mustWait(woken::incrementAndGet)) {
      queue.send(answer);
      assertThat(++answers).isLessThan(5000);
    }
    assertThat(queue.isFull()).as("publishers need not wait for it").isFalse();
    wire.unstick();
    assertThat(woken).hasValue(1);
    assertThat(queue.mustWait(woken::incrementAndGet)).isFalse();
  }

  @Test
  void theLatencyOfEachEventIsRecorded() {
    long micros = TimeUnit.SECONDS.toMicros(3);
    clock = System.nanoTime() - TimeUnit.MICROSECONDS.toNanos(micros);
    offer("t", 1, 10, Overflow.BLOCK);
    offer("t", 2, 10, Overflow.BLOCK);
    wire.run();
    assertThat(LongStream.of(wire.stats.latency.counts()).sum()).isEqualTo(2);
    assertThat(wire.stats.latency.sumMicros()).isBetween(2 * micros, 2 * micros + 60_000_000);
  }

  /** A subscriber that always has something to read is never up to date. */
  @Test
  void theLatencyOfASubscriberThatIsBehindIsRecorded() {
    long micros = TimeUnit.SECONDS.toMicros(3);
    stickAndFill("t", Overflow.DROP_OLDEST);
    long before = LongStream.of(wire.stats.latency.counts()).sum();
    clock = System.nanoTime() - TimeUnit.MICROSECONDS.toNanos(micros);
    offer("u", 1, 10, Overflow.BLOCK);
    wire.run();
    assertThat(LongStream.of(wire.stats.latency.counts()).sum()).isEqualTo(before);
    wire.unstick();
    assertThat(LongStream.of(wire.stats.latency.counts()).sum())
        .isEqualTo(wire.stats.eventsOut.get());
    assertThat(wire.stats.latency.sumMicros()).isGreaterThanOrEqualTo(micros);
  }

  @Test
  void closingTwiceCountsOnce() {
    stickAndFill("t", Overflow.BLOCK);
    queue.close();
    long lost = wire.stats.drops(DropReason.DISCONNECTED).get();
    assertThat(lost).isPositive();
    queue.close();
    assertThat(wire.stats.drops(DropReason.DISCONNECTED).get()).isEqualTo(lost);
    queue.send(ControlFrames.encode(TypeCode.DRAINED, new Drained(1L)));
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void answersBehindConflatedEventsCountAsAnswers() {
    long last = stickAndFill("t", Overflow.CONFLATE);
    offer("t", last + 1, 1000, Overflow.CONFLATE);
    byte[] drained = ControlFrames.encode(TypeCode.DRAINED, new Drained(1L));
    int sent = 0;
    while (!queue.mustWait(woken::incrementAndGet)) {
      queue.sendLast(drained);
      sent++;
      assertThat(sent).as("answers that are not read are bounded").isLessThan(10_000);
    }
    assertThat(sent).isGreaterThan(100);
    wire.unstick();
    wire.run();
    assertThat(woken).hasValue(1);
    wire.written();
  }
}
