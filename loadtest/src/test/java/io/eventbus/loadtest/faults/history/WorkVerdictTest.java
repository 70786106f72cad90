package io.eventbus.loadtest.faults.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.faults.history.WorkQueue.Answer;
import io.eventbus.loadtest.faults.history.WorkQueue.DeadLetter;
import io.eventbus.loadtest.faults.history.WorkQueue.Delivery;
import io.eventbus.loadtest.faults.history.WorkQueue.Limits;
import io.eventbus.loadtest.faults.history.WorkQueue.Outcome;
import io.eventbus.loadtest.faults.history.WorkQueue.Settlement;
import io.eventbus.loadtest.faults.history.WorkQueue.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Judgements of a correct history of a work queue, and of the same with one fault. Each position
 * has another fate. Times are milliseconds; the ack timeout is a second, and there are three
 * attempts.
 */
class WorkVerdictTest {
  private static final int DONE = 1;
  private static final int CONFIRMED = 2;
  private static final int RETRIED = 3;
  private static final int RELEASED = 4;
  private static final int TIMED_OUT = 5;
  private static final int CUT = 6;
  private static final int ENDED = 7;
  private static final int REJECTED = 8;
  private static final int FAILED = 9;
  private static final int UNSEEN = 10;
  private static final int LOST_WITH_ITS_BUS = 11;
  private static final int TOLD_LATE = 12;
  private static final int LAST = 12;
  private static final long FAULT = 50_000;

  private final List<Publication> publications = new ArrayList<>();
  private final List<Sighting> stored = new ArrayList<>();
  private final List<Delivery> deliveries = new ArrayList<>();
  private final List<ConsumerLoss> losses = new ArrayList<>();
  private final List<BusFault> faults = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();
  private final List<DeadLetter> dead = new ArrayList<>();

  @BeforeEach
  void aCorrectHistory() {
    for (int position = 1; position <= LAST; position++) {
      long at = position < UNSEEN ? position : FAULT - LAST + position;
      publications.add(
          new Publication(
              event(position),
              Publication.NOTHING,
              nanos(at),
              nanos(at + 50),
              new PublishAnswer.Stored(position)));
      stored.add(new Sighting(position, event(position), 0, "bus-1"));
    }
    deliver("a", DONE, 1, 100, Outcome.DONE);
    deliver("a", CONFIRMED, 1, 110, Outcome.DONE);
    change(CONFIRMED, 1, answered(Answer.CONFIRMED));
    deliver("a", RETRIED, 1, 120, Outcome.RETRY);
    deliver("b", RETRIED, 2, 630, Outcome.DONE);
    deliver("a", RELEASED, 1, 130, Outcome.RELEASE);
    deliver("b", RELEASED, 1, 140, Outcome.DONE);
    deliver("a", TIMED_OUT, 1, 150, null);
    deliver("b", TIMED_OUT, 2, 1_010, Outcome.DONE);
    deliver("cut", CUT, 1, 160, Outcome.DONE);
    losses.add(loss("cut", ConsumerLoss.Kind.CUT, 200));
    deliver("b", CUT, 2, 210, Outcome.DONE);
    deliver("ended", ENDED, 1, 170, null);
    losses.add(loss("ended", ConsumerLoss.Kind.END, 300));
    deliver("b", ENDED, 1, 310, Outcome.DONE);
    deliver("a", REJECTED, 1, 180, Outcome.REJECT);
    dead.add(new DeadLetter(REJECTED, 1, "rejected", nanos(190)));
    deliver("a", FAILED, 1, 200, Outcome.RETRY);
    deliver("a", FAILED, 2, 702, Outcome.RETRY);
    deliver("a", FAILED, 3, 1_204, Outcome.RETRY);
    dead.add(new DeadLetter(FAILED, 3, "failed", nanos(1_210)));
    deliver("a", UNSEEN, 2, FAULT + 500, Outcome.DONE);
    deliver("lost", LOST_WITH_ITS_BUS, 1, FAULT, Outcome.DONE);
    deliver("a", LOST_WITH_ITS_BUS, 2, FAULT + 500, Outcome.DONE);
    deliver("late", TOLD_LATE, 1, FAULT, null);
    deliver("a", TOLD_LATE, 1, FAULT + 100, Outcome.DONE);
    losses.add(loss("late", ConsumerLoss.Kind.REPLACED, FAULT + 5_100));
    faults.add(new BusFault("bus of lost", nanos(FAULT + 100), nanos(FAULT + 900), true));
  }

  private static EventName event(int position) {
    return new EventName("p", "t", position);
  }

  private static long nanos(long millis) {
    return millis * 1_000_000;
  }

  private static ConsumerLoss loss(String client, ConsumerLoss.Kind kind, long at) {
    return new ConsumerLoss(client, kind, nanos(at));
  }

  /** Adds a delivery, which is settled 2 ms later; with a delay of 500 ms after RETRY. */
  private void deliver(
      String client, int position, int attempt, long at, @Nullable Outcome outcome) {
    deliveries.add(
        new Delivery(
            new Worker(client, "bus of " + client, 0),
            new Sighting(position, event(position), nanos(at), client),
            attempt,
            outcome == null
                ? null
                : new Settlement(
                    outcome,
                    nanos(at + 2),
                    outcome == Outcome.RETRY ? nanos(500) : 0,
                    Answer.UNKNOWN)));
  }

  private static UnaryOperator<Delivery> answered(Answer answer) {
    return delivery ->
        delivery.settlement() == null
            ? delivery
            : settled(
                delivery,
                new Settlement(
                    delivery.settlement().outcome(),
                    delivery.settlement().called(),
                    delivery.settlement().delayNanos(),
                    answer));
  }

  private static Delivery settled(Delivery delivery, @Nullable Settlement settlement) {
    return new Delivery(delivery.worker(), delivery.seen(), delivery.attempt(), settlement);
  }

  private static UnaryOperator<Delivery> attempt(int attempt) {
    return delivery ->
        new Delivery(delivery.worker(), delivery.seen(), attempt, delivery.settlement());
  }

  private static UnaryOperator<Delivery> at(long millis) {
    return delivery ->
        new Delivery(
            delivery.worker(),
            new Sighting(
                delivery.seen().position(), delivery.seen().event(), nanos(millis), "moved"),
            delivery.attempt(),
            delivery.settlement());
  }

  /** Changes a delivery of a position, counted from 1. */
  private void change(int position, int number, UnaryOperator<Delivery> change) {
    int index =
        IntStream.range(0, deliveries.size())
            .filter(i -> deliveries.get(i).seen().position() == position)
            .skip(number - 1)
            .findFirst()
            .orElseThrow();
    deliveries.set(index, change.apply(deliveries.get(index)));
  }

  private void remove(int position) {
    deliveries.removeIf(delivery -> delivery.seen().position() == position);
  }

  private HistoryVerdict verdict() {
    return HistoryVerdict.of(
        new History(
            List.of(),
            publications,
            List.of(),
            List.of(),
            List.of(
                new WorkQueue(
                    "queue",
                    Set.of("t"),
                    new Limits(nanos(1_000), 3),
                    deliveries,
                    losses,
                    cuts,
                    dead)),
            faults,
            List.of(new Reading("bus-1", Set.of("t"), 1, stored, List.of())),
            Set.of()));
  }

  private void good() {
    assertThat(verdict().texts()).isEmpty();
    assertThat(verdict().isGood()).isTrue();
  }

  private void broken(HistoryRule... rules) {
    HistoryVerdict verdict = verdict();
    assertThat(verdict.counts().keySet())
        .as(String.join("\n", verdict.texts()))
        .containsExactlyInAnyOrder(rules);
  }

  @Test
  void aCorrectHistoryIsGood() {
    good();
  }

  // ---- Each event is done, dead or told

  @Test
  void anEventThatNoWorkerGetsIsFound() {
    remove(DONE);
    broken(HistoryRule.DELIVERED_AT_LEAST_ONCE);
    cuts.add(new Cut(DONE, DONE, "DAMAGED"));
    good();
  }

  @Test
  void anEventThatDoesNotComeAgainIsFound() {
    deliveries.removeIf(
        delivery -> delivery.seen().position() == TIMED_OUT && delivery.attempt() == 2);
    broken(HistoryRule.DELIVERED_AT_LEAST_ONCE);
  }

  @Test
  void aRefusedSettlementAfterWhichTheEventDoesNotComeAgainIsFound() {
    change(DONE, 1, answered(Answer.REFUSED));
    broken(HistoryRule.DELIVERED_AT_LEAST_ONCE);
  }

  @Test
  void aRejectedEventThatIsNotDeadIsFound() {
    dead.removeIf(letter -> letter.position() == REJECTED);
    broken(HistoryRule.DELIVERED_AT_LEAST_ONCE);
  }

  @Test
  void aDeliveryOfWhatIsNotStoredIsFound() {
    deliver("a", LAST + 1, 1, 400, Outcome.DONE);
    broken(HistoryRule.READ_IS_STORED);
  }

  @Test
  void aDeliveryOfWhatWasRefusedIsFound() {
    publications.set(
        0,
        new Publication(
            event(DONE),
            Publication.NOTHING,
            nanos(1),
            nanos(51),
            new PublishAnswer.Refused("STORE_FULL")));
    broken(HistoryRule.REFUSED_IS_NOWHERE);
  }

  // ---- What is confirmed does not come again

  @Test
  void anEventThatComesAfterItsConfirmationIsFound() {
    deliver("b", CONFIRMED, 2, 3_000, Outcome.DONE);
    broken(HistoryRule.SETTLED_NEVER_AGAIN);
  }

  @Test
  void anEventWithAConfirmationIsNotDead() {
    dead.add(new DeadLetter(CONFIRMED, 3, "failed", nanos(3_000)));
    broken(HistoryRule.SETTLED_NEVER_AGAIN);
  }

  @Test
  void anEarlierDeliveryThatIsHandledLateIsGood() {
    deliver("b", RETRIED, 3, 2_500, Outcome.DONE);
    change(RETRIED, 3, answered(Answer.CONFIRMED));
    change(RETRIED, 2, at(2_600));
    good();
  }

  // ---- A redelivery has a cause

  @Test
  void aRedeliveryWithoutACauseIsFound() {
    deliver("b", DONE, 2, 300, Outcome.DONE);
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  @Test
  void twoWorkersWithOneEventAreFound() {
    deliver("b", DONE, 1, 101, Outcome.DONE);
    broken(HistoryRule.REDELIVERY_HAS_CAUSE, HistoryRule.ATTEMPTS_RISE);
  }

  @Test
  void aRedeliveryBeforeTheAckTimeoutIsFound() {
    change(TIMED_OUT, 2, at(1_000));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  @Test
  void aLossThatComesAfterTheRedeliveryIsNoCause() {
    losses.set(0, loss("cut", ConsumerLoss.Kind.CUT, 220));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  @Test
  void aLossThatIsToldLongAfterTheRedeliveryIsNoCause() {
    change(TOLD_LATE, 2, at(FAULT + 99));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE, HistoryRule.ATTEMPTS_RISE);
  }

  @Test
  void aConnectionThatEndsLongAfterTheRedeliveryIsNoCause() {
    losses.set(0, loss("cut", ConsumerLoss.Kind.DISCONNECTED, 1_210));
    good();
    losses.set(0, loss("cut", ConsumerLoss.Kind.DISCONNECTED, 1_211));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  @Test
  void aLossOfAnotherWorkerIsNoCause() {
    losses.set(0, loss("b", ConsumerLoss.Kind.CUT, 200));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  @Test
  void aFaultOfAnotherBusIsNoCause() {
    faults.set(0, new BusFault("bus of a", nanos(FAULT + 100), nanos(FAULT + 900), true));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  @Test
  void aWorkerThatBeganLaterCannotHaveLostTheEventBefore() {
    deliveries.replaceAll(
        delivery ->
            delivery.worker().client().equals("cut")
                ? new Delivery(
                    new Worker("cut", "bus of cut", nanos(201)),
                    delivery.seen(),
                    delivery.attempt(),
                    delivery.settlement())
                : delivery);
    change(CUT, 1, at(205));
    broken(HistoryRule.REDELIVERY_HAS_CAUSE);
  }

  // ---- Attempts

  @Test
  void aRetryThatCountsNoAttemptIsFound() {
    change(RETRIED, 2, attempt(1));
    broken(HistoryRule.ATTEMPTS_RISE);
  }

  @Test
  void aLostConnectionThatCountsNoAttemptIsFound() {
    change(CUT, 2, attempt(1));
    broken(HistoryRule.ATTEMPTS_RISE);
  }

  @Test
  void anEventThatIsLostWithItsBusAndCountsNoAttemptIsFound() {
    change(LOST_WITH_ITS_BUS, 2, attempt(1));
    broken(HistoryRule.ATTEMPTS_RISE);
    faults.set(0, new BusFault("bus of lost", nanos(FAULT + 100), nanos(FAULT + 900), false));
    good();
  }

  @Test
  void aReleaseThatCountsAsAnAttemptIsFound() {
    change(RELEASED, 2, attempt(2));
    broken(HistoryRule.ATTEMPTS_RISE);
  }

  @Test
  void anAttemptThatIsLeftOutIsFound() {
    losses.remove(0);
    remove(CUT);
    deliver("a", CUT, 1, 160, Outcome.DONE);
    change(RETRIED, 2, attempt(3));
    broken(HistoryRule.ATTEMPTS_RISE);
    losses.add(loss("x", ConsumerLoss.Kind.CUT, 625));
    good();
  }

  @Test
  void aFirstDeliveryWithALaterAttemptIsFound() {
    change(DONE, 1, attempt(2));
    broken(HistoryRule.ATTEMPTS_RISE);
  }

  @Test
  void anAttemptTooManyIsFound() {
    dead.removeIf(letter -> letter.position() == FAILED);
    deliver("a", FAILED, 4, 1_710, Outcome.DONE);
    broken(HistoryRule.ATTEMPTS_RISE);
  }

  // ---- Dead letters

  @Test
  void aDoneEventThatIsDeadIsFound() {
    change(DONE, 1, attempt(3));
    losses.add(loss("x", ConsumerLoss.Kind.CUT, 50));
    losses.add(loss("y", ConsumerLoss.Kind.CUT, 50));
    good();
    dead.add(new DeadLetter(DONE, 3, "failed", nanos(110)));
    broken(HistoryRule.DEAD_HAS_REASON);
  }

  @Test
  void aDeadLetterWithTooFewAttemptsIsFound() {
    dead.set(1, new DeadLetter(FAILED, 2, "failed", nanos(1_210)));
    broken(HistoryRule.DEAD_HAS_REASON);
  }

  @Test
  void aDeadLetterWithoutItsDeliveriesIsFound() {
    deliveries.removeIf(delivery -> delivery.seen().position() == FAILED && delivery.attempt() > 1);
    dead.set(1, new DeadLetter(FAILED, 3, "failed", nanos(300)));
    broken(HistoryRule.DEAD_HAS_REASON);
    LongStream.of(240, 280).forEach(at -> losses.add(loss("x", ConsumerLoss.Kind.CUT, at)));
    good();
  }

  @Test
  void aDeadLetterThatWasRejectedAtAnotherAttemptIsFound() {
    dead.set(0, new DeadLetter(REJECTED, 2, "rejected", nanos(190)));
    broken(HistoryRule.DEAD_HAS_REASON);
  }

  @Test
  void aReleasedEventThatIsDeadIsFound() {
    remove(DONE);
    deliver("a", DONE, 3, 100, Outcome.RELEASE);
    LongStream.of(40, 50).forEach(at -> losses.add(loss("x", ConsumerLoss.Kind.CUT, at)));
    dead.add(new DeadLetter(DONE, 3, "lost", nanos(110)));
    broken(HistoryRule.DEAD_HAS_REASON);
    losses.add(loss("y", ConsumerLoss.Kind.CUT, 105));
    good();
  }

  // ---- Retries wait

  @Test
  void aRetryThatComesTooEarlyIsFound() {
    change(RETRIED, 2, at(601));
    broken(HistoryRule.RETRY_WAITS);
    change(RETRIED, 2, at(603));
    good();
  }

  @Test
  void aRetryOfALostWorkerMayComeEarlier() {
    change(RETRIED, 2, at(200));
    broken(HistoryRule.RETRY_WAITS);
    losses.add(loss("a", ConsumerLoss.Kind.CUT, 190));
    good();
  }
}
