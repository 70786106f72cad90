package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.transport.QueueHandler;
import io.eventbus.server.transport.Wire;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Client that limits deliveries by credit, and a socket that would take everything. */
class OutboundQueueCreditTest {
  private static final long PRODUCER = 3;
  private static final long BOUND = 40 * 1024;
  private static final byte[] CONFIRM =
      ControlFrames.encode(
          TypeCode.CONFIRM, new Confirm(TypeCode.PUBLISH.code(), 1L, "p", -1L, 0L, false, 0L));

  private final Wire wire = new Wire(Wire.smallQueue());
  private final QueueHandler handler;
  private final OutboundQueue queue;
  private final AtomicInteger woken = new AtomicInteger();

  OutboundQueueCreditTest() {
    handler = wire.connectQueue();
    queue = handler.queue;
  }

  @AfterEach
  void everythingIsGivenBack() {
    wire.assertNothingHeld();
  }

  /** Returns the bytes of the frame. */
  private int offer(String topic, long sequence, String key, int bytes, Overflow overflow) {
    Delivery d =
        SampleFrames.delivery(
            wire.allocator,
            wire.memory,
            topic,
            PRODUCER,
            sequence,
            System.nanoTime(),
            List.of(new SampleFrames.Event(key, "x".repeat(bytes))));
    int size = d.frameBytes();
    queue.offer(d, overflow);
    d.release();
    return size;
  }

  private int offer(long sequence, int bytes, Overflow overflow) {
    return offer("t", sequence, "key", bytes, overflow);
  }

  private void grant(long limit) {
    queue.grant(limit);
    wire.run();
  }

  private static List<Long> sequences(List<Object> frames) {
    return frames.stream()
        .filter(SampleFrames.Delivered.class::isInstance)
        .map(f -> ((SampleFrames.Delivered) f).sequence())
        .toList();
  }

  private static byte[] drained(long id) {
    return ControlFrames.encode(TypeCode.DRAINED, new Drained(id));
  }

  private static Confirm confirm() {
    return new Confirm(TypeCode.PUBLISH.code(), 1L, "p", -1L, 0L, false, 0L);
  }

  // Below and above the size up to which frames are copied together.
  @ParameterizedTest
  @ValueSource(ints = {100, 17_000})
  void aDeliveryBeginsWhileFewerBytesThanTheLimitWereWritten(int bytes) {
    int frame = 0;
    for (int i = 1; i <= 2; i++) {
      frame = offer(i, bytes, Overflow.BLOCK);
    }
    assertThat(sequences(wire.frames())).as("there is no limit yet").containsExactly(1L, 2L);
    grant(4L * frame + 1);
    for (int i = 3; i <= 9; i++) {
      offer(i, bytes, Overflow.BLOCK);
    }
    assertThat(sequences(wire.frames()))
        .as("counted from the beginning; the last one may pass the limit")
        .containsExactly(3L, 4L, 5L);
    grant(1);
    grant(5L * frame);
    assertThat(wire.frames()).as("so many were written").isEmpty();
    grant(5L * frame + 1);
    assertThat(sequences(wire.frames())).containsExactly(6L);
    grant(Long.MAX_VALUE);
    assertThat(sequences(wire.frames())).containsExactly(7L, 8L, 9L);
    grant(0);
    offer(10, bytes, Overflow.BLOCK);
    assertThat(sequences(wire.frames())).as("a smaller one changes nothing").containsExactly(10L);
  }

  @Test
  void otherFramesUseNoCredit() {
    grant(1);
    queue.send(CONFIRM);
    queue.sendLast(drained(1));
    assertThat(wire.frames()).containsExactly(confirm(), new Drained(1L));
    offer(1, 10, Overflow.BLOCK);
    assertThat(sequences(wire.frames())).containsExactly(1L);
  }

  @Test
  void answersOvertakeDeliveriesOnlyAfterTheFirstCredit() {
    offer(1, 10, Overflow.BLOCK);
    queue.send(CONFIRM);
    List<Object> before = wire.frames();
    assertThat(before).hasSize(2).last().isEqualTo(confirm());
    grant(0);
    offer(2, 10, Overflow.BLOCK);
    queue.sendLast(drained(1));
    queue.send(CONFIRM);
    assertThat(wire.frames()).containsExactly(confirm());
    assertThat(queue.hasAnswered()).isTrue();
    assertThat(queue.isEmpty()).isFalse();
    grant(1 << 20);
    List<Object> rest = wire.frames();
    assertThat(sequences(rest)).containsExactly(2L);
    assertThat(rest).hasSize(2).last().isEqualTo(new Drained(1L));
  }

  @Test
  void theFirstCreditLetsAnswersOvertakeThatWaitAlready() {
    wire.stick();
    long last = 0;
    do {
      offer(++last, 2000, Overflow.BLOCK);
      wire.run();
    } while (queue.isEmpty());
    queue.send(CONFIRM);
    queue.sendLast(drained(1));
    offer(++last, 2000, Overflow.BLOCK);
    queue.send(CONFIRM);
    grant(0);
    wire.unstick();
    List<Object> frames = wire.frames();
    assertThat(frames.subList(frames.size() - 2, frames.size()))
        .containsExactly(confirm(), confirm());
    assertThat(sequences(frames)).hasSize((int) last - 2);
    assertThat(queue.hasAnswered()).isTrue();
    grant(Long.MAX_VALUE);
    frames = wire.frames();
    assertThat(sequences(frames)).containsExactly(last - 1, last);
    assertThat(frames.indexOf(new Drained(1L))).as("where it was").isEqualTo(1);
  }

  @Test
  void underBlockPublishersWaitForCredit() {
    grant(0);
    long last = 0;
    assertThat(queue.isCrowded()).isFalse();
    while (!queue.isFull()) {
      assertThat(queue.bytes()).isLessThan(BOUND + 2000);
      offer(++last, 1000, Overflow.BLOCK);
      assertThat(queue.isCrowded()).isEqualTo(queue.bytes() > BOUND / 2);
    }
    queue.whenNotFull(woken::incrementAndGet);
    assertThat(wire.frames()).isEmpty();
    assertThat(woken).hasValue(0);
    grant(BOUND / 4);
    assertThat(woken).as("more than half is left").hasValue(0);
    grant(BOUND);
    assertThat(woken).hasValue(1);
    assertThat(sequences(wire.frames()))
        .isEqualTo(LongStream.rangeClosed(1, last).boxed().toList());
  }

  @Test
  void aClientWithoutCreditIsTooSlowEvenIfItReadsAnswers() {
    grant(0);
    long last = 0;
    while (!queue.isFull()) {
      offer(++last, 1000, Overflow.BLOCK);
    }
    for (int i = 0; i < 1000; i++) {
      queue.send(CONFIRM);
    }
    assertThat(wire.frames()).hasSize(1000);
    long now = System.nanoTime();
    wire.tick(now + TimeUnit.SECONDS.toNanos(9));
    assertThat(handler.tooSlow).isEmpty();
    wire.tick(now + TimeUnit.SECONDS.toNanos(11));
    assertThat(handler.tooSlow).hasSize(1);
    assertThat(handler.tooSlow.get(0)).contains("it took 0 bytes in 10s;");
  }

  @Test
  void theOldestAreDroppedAndToldBeforeTheNextOfTheirStream() {
    grant(0);
    long last = 0;
    while (queue.dropped() < 5) {
      offer(++last, 1000, Overflow.DROP_OLDEST);
    }
    assertThat(wire.frames()).as("told with the next event").isEmpty();
    assertThat(queue.isFull()).isFalse();
    grant(1);
    List<Object> frames = wire.frames();
    assertThat(frames).hasSize(2).first().isEqualTo(gap(1, 5, GapReason.QUEUE_FULL));
    assertThat(sequences(frames)).containsExactly(6L);
    grant(Long.MAX_VALUE);
    assertThat(sequences(wire.frames()))
        .isEqualTo(LongStream.rangeClosed(7, last).boxed().toList());
  }

  private static Gap gap(long from, long to, GapReason reason) {
    return new Gap("t", PRODUCER, from, to, reason);
  }

  @Test
  void eventsWaitingForCreditAreConflated() {
    grant(0);
    for (int i = 1; i <= 5; i++) {
      offer(i, 10, Overflow.CONFLATE);
      wire.run();
    }
    queue.sendLast(drained(1));
    queue.send(CONFIRM);
    offer(6, 10, Overflow.CONFLATE);
    assertThat(wire.frames()).containsExactly(confirm());
    grant(1 << 20);
    List<Object> frames = wire.frames();
    assertThat(sequences(frames)).containsExactly(6L);
    assertThat(frames).containsSubsequence(new Drained(1L), gap(1, 5, GapReason.CONFLATED));
    assertThat(frames.get(frames.size() - 1)).isInstanceOf(SampleFrames.Delivered.class);
  }

  @Test
  void disconnectEndsAConnectionThatGivesNoCredit() {
    grant(0);
    for (long i = 1; i <= 100 && handler.tooSlow.isEmpty(); i++) {
      offer(i, 1000, Overflow.DISCONNECT);
    }
    assertThat(handler.tooSlow).hasSize(1);
    assertThat(wire.frames()).last().isInstanceOf(Wire.Close.class);
  }

  @Test
  void theLimitDoesNotHoldWhileTheClientIsNotRead() {
    grant(0);
    for (long i = 1; i <= 3; i++) {
      offer(i, 10, Overflow.BLOCK);
    }
    assertThat(wire.frames()).isEmpty();
    queue.inputWaits(true);
    assertThat(sequences(wire.frames())).containsExactly(1L, 2L, 3L);
    queue.inputWaits(false);
    int frame = offer(4, 10, Overflow.BLOCK);
    assertThat(wire.frames()).isEmpty();
    grant(3L * frame);
    assertThat(wire.frames()).as("what was written all the same counts").isEmpty();
    grant(3L * frame + 1);
    assertThat(sequences(wire.frames())).containsExactly(4L);
  }

  @Test
  void aClientThatIsNotListenedToAnyMoreGetsWhatIsQueued() {
    grant(0);
    offer(1, 10, Overflow.BLOCK);
    assertThat(wire.frames()).isEmpty();
    queue.endCredit();
    assertThat(sequences(wire.frames())).containsExactly(1L);
    offer(2, 10, Overflow.BLOCK);
    assertThat(sequences(wire.frames())).containsExactly(2L);
  }

  @Test
  void gapsAreToldBeforeDrained() {
    grant(0);
    offer("t", 1, "key", 10, Overflow.DROP_OLDEST);
    queue.sendLast(drained(1));
    for (long i = 1; i <= 4; i++) {
      offer("other", i, "key", (int) BOUND / 3, Overflow.DROP_OLDEST);
    }
    List<Object> frames = wire.frames();
    assertThat(frames).containsSubsequence(gap(1, 1, GapReason.QUEUE_FULL), new Drained(1L));
  }

  @Test
  void aClientMayEndAllItsSubscriptionsWhileItGivesNoCredit() {
    grant(0);
    offer(1, 10, Overflow.BLOCK);
    int subscriptions = wire.config.limits().subscriptions();
    for (int i = 1; i <= subscriptions; i++) {
      queue.sendLast(drained(Long.MAX_VALUE));
      queue.send(CONFIRM);
      if (i % 100 == 0) {
        wire.run();
      }
    }
    assertThat(queue.mustWait(woken::incrementAndGet)).isFalse();
    int more = 0;
    while (!queue.mustWait(woken::incrementAndGet)) {
      queue.sendLast(drained(1));
      assertThat(++more).as("there is a bound").isLessThan(subscriptions);
    }
    assertThat(woken).hasValue(0);
    // The client is not served any more: its next credit would not be seen.
    wire.run();
    assertThat(woken).hasValue(1);
    assertThat(wire.frames().stream().filter(Drained.class::isInstance))
        .hasSize(subscriptions + more);
  }

  @Test
  void aClientThatReadsItsAnswersIsServedAgainHoweverMuchWaitsForItsCredit() {
    grant(0);
    offer(1, 10, Overflow.BLOCK);
    for (int i = 1; i <= wire.config.limits().subscriptions(); i++) {
      queue.sendLast(drained(Long.MAX_VALUE));
    }
    wire.stick();
    while (!queue.mustWait(woken::incrementAndGet)) {
      queue.send(CONFIRM);
      wire.run();
    }
    assertThat(woken).hasValue(0);
    wire.unstick();
    assertThat(woken).as("its next credit has to be seen").hasValue(1);
  }

  @Test
  void answersThatAreNotReadAreBoundedAsBefore() {
    grant(0);
    wire.stick();
    int answers = 0;
    while (!queue.mustWait(woken::incrementAndGet)) {
      queue.send(CONFIRM);
      wire.run();
      assertThat(++answers).isLessThan(10_000);
    }
    wire.unstick();
    assertThat(woken).hasValue(1);
    assertThat(wire.frames()).hasSize(answers);
  }

  @Test
  void allThatWaitsIsFreedWithTheConnection() {
    grant(0);
    wire.stick();
    offer(1, 10, Overflow.BLOCK);
    for (int i = 0; i < 500; i++) {
      queue.send(CONFIRM);
      wire.run();
    }
    queue.close();
    assertThat(queue.bytes()).isZero();
  }
}
