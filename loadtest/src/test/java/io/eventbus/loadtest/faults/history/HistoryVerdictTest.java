package io.eventbus.loadtest.faults.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.faults.history.Consumption.Delivery;
import io.eventbus.loadtest.faults.history.Consumption.Settlement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Judgements of a correct history, and of the same with one fault. The journal has eight events of
 * two producers and topics, and a contest in a third topic.
 */
class HistoryVerdictTest {
  private static final Set<String> ALL = Set.of("t1", "t2", "contest");

  private final List<EventName> log =
      List.of(
          new EventName("a", "t1", 1),
          new EventName("b", "t2", 1),
          new EventName("a", "t1", 2),
          new EventName("a", "contest", 1),
          new EventName("b", "t2", 2),
          new EventName("b", "contest", 2),
          new EventName("a", "t1", 3),
          new EventName("b", "t2", 3));

  private final List<Publication> publications = new ArrayList<>();
  private final List<Sighting> read = new ArrayList<>();
  private final List<Cut> readCuts = new ArrayList<>();
  private final List<Delivery> delivered = new ArrayList<>();
  private final List<Cut> deliveredCuts = new ArrayList<>();
  private final List<Settlement> settlements = new ArrayList<>();
  private final List<ConsumerLoss> losses = new ArrayList<>();
  private final List<BusFault> faults = new ArrayList<>();
  private final List<Sighting> first = new ArrayList<>();
  private final List<Sighting> second = new ArrayList<>();
  private final List<Cut> secondCuts = new ArrayList<>();
  private Set<String> forgotten = Set.of();

  @BeforeEach
  void aCorrectHistory() {
    for (int i = 0; i < log.size(); i++) {
      EventName event = log.get(i);
      long position = i + 1L;
      long expected =
          event.topic().equals("contest") ? (position == 4 ? 0 : 4) : Publication.NOTHING;
      publications.add(
          new Publication(
              event,
              expected,
              position * 100,
              position * 100 + 150,
              new PublishAnswer.Stored(position)));
      first.add(seen(position, "bus-1"));
      second.add(seen(position, "bus-2"));
      if (event.topic().equals("t1")) {
        read.add(seen(position, "reader"));
      } else {
        delivered.add(delivery("c1", seen(position, "c1")));
      }
    }
    // A contest that was lost, a failed one, and one that nobody knows the end of.
    EventName loser = new EventName("a", "contest", 9);
    publications.add(
        new Publication(loser, 4, 500, 900, new PublishAnswer.Refused("EXPECTATION_FAILED")));
    EventName unknown = new EventName("c", "t1", 1);
    publications.add(
        new Publication(
            unknown, Publication.NOTHING, 600, 990, new PublishAnswer.Unknown("TimedOut")));
    settlements.add(new Settlement(5, 5_500));
    // What was not settled comes again, to the next consumer.
    delivered.add(delivery("c2", new Sighting(6, log.get(5), 9_000, "c2")));
    delivered.add(delivery("c2", new Sighting(8, log.get(7), 9_100, "c2")));
  }

  private static Delivery delivery(String consumer, Sighting seen) {
    return new Delivery(consumer, "bus of " + consumer, consumer, seen);
  }

  private Sighting seen(long position, String where) {
    return new Sighting(position, log.get((int) position - 1), position * 1_000, where);
  }

  private HistoryVerdict verdict() {
    return HistoryVerdict.of(
        new History(
            List.of(),
            publications,
            List.of(new Reading("reader", Set.of("t1"), 1, read, readCuts)),
            List.of(
                new Consumption(
                    "durable",
                    Set.of("t2", "contest"),
                    1,
                    delivered,
                    deliveredCuts,
                    settlements,
                    losses)),
            List.of(),
            faults,
            List.of(
                new Reading("bus-1", ALL, 1, first, List.of()),
                new Reading("bus-2", ALL, 1, second, secondCuts)),
            forgotten));
  }

  private void broken(HistoryRule... rules) {
    HistoryVerdict verdict = verdict();
    assertThat(verdict.counts().keySet())
        .as(String.join("\n", verdict.texts()))
        .containsExactlyInAnyOrder(rules);
    assertThat(verdict.isGood()).isFalse();
    assertThat(verdict.texts()).hasSizeGreaterThanOrEqualTo(rules.length);
  }

  private void change(int index, UnaryOperator<Publication> change) {
    publications.set(index, change.apply(publications.get(index)));
  }

  private static Publication answered(Publication publication, PublishAnswer answer) {
    return new Publication(
        publication.event(),
        publication.expected(),
        publication.called(),
        publication.answered(),
        answer);
  }

  @Test
  void aCorrectHistoryIsGood() {
    assertThat(verdict().texts()).isEmpty();
    assertThat(verdict().isGood()).isTrue();
    assertThat(verdict().findings()).isZero();
  }

  @Test
  void aConfirmedEventThatIsNowhereIsFound() {
    // The last one, so that there is no hole.
    first.remove(7);
    second.remove(7);
    delivered.removeIf(delivery -> delivery.seen().position() == 8);
    broken(HistoryRule.CONFIRMED_IS_STORED);
  }

  @Test
  void aConfirmedEventThatOneBusLacksIsFound() {
    second.remove(7);
    broken(HistoryRule.CONFIRMED_IS_STORED, HistoryRule.READ_IS_STORED);
  }

  @Test
  void aConfirmedRepetitionThatIsNowhereIsFound() {
    change(9, publication -> answered(publication, new PublishAnswer.Stored(0)));
    broken(HistoryRule.CONFIRMED_IS_STORED);
  }

  @Test
  void whatOneBusWasToldAsRemovedIsGood() {
    second.remove(0);
    secondCuts.add(new Cut(1, 1, "RETENTION"));
    assertThat(verdict().texts()).isEmpty();
  }

  @Test
  void twoEventsAtAPositionAreFound() {
    second.set(6, new Sighting(7, new EventName("x", "t1", 1), 0, "bus-2"));
    broken(HistoryRule.ONE_EVENT_A_POSITION);
  }

  @Test
  void confirmationsOfSwappedPositionsAreFound() {
    change(6, publication -> answered(publication, new PublishAnswer.Stored(8)));
    change(7, publication -> answered(publication, new PublishAnswer.Stored(7)));
    broken(HistoryRule.ONE_EVENT_A_POSITION, HistoryRule.CONFIRMED_IS_STORED);
  }

  @Test
  void anEventThatAReaderDoesNotGetIsFound() {
    read.remove(1);
    broken(HistoryRule.READ_IN_ORDER);
    readCuts.add(new Cut(2, 3, "RETENTION"));
    assertThat(verdict().texts()).isEmpty();
  }

  @Test
  void theFirstEventThatAReaderDoesNotGetIsFound() {
    read.remove(0);
    broken(HistoryRule.READ_IN_ORDER);
  }

  @Test
  void aReaderThatGoesBackIsFound() {
    read.add(read.get(0));
    broken(HistoryRule.READ_IN_ORDER);
  }

  @Test
  void aHoleAtAllBusesIsFound() {
    first.remove(1);
    second.remove(1);
    change(1, publication -> answered(publication, new PublishAnswer.Unknown("TimedOut")));
    delivered.removeIf(delivery -> delivery.seen().position() == 2);
    broken(HistoryRule.READ_IN_ORDER);
  }

  @Test
  void anEventThatIsStoredTwiceIsFound() {
    EventName again = new EventName("b", "t2", 3);
    first.add(new Sighting(9, again, 0, "bus-1"));
    second.add(new Sighting(9, again, 0, "bus-2"));
    delivered.add(delivery("c2", new Sighting(9, again, 9_200, "c2")));
    broken(HistoryRule.PRODUCER_ORDER);
    forgotten = Set.of("b");
    assertThat(verdict().texts()).isEmpty();
  }

  @Test
  void eventsOfAProducerInTheWrongOrderAreFound() {
    EventName early = new EventName("c", "t2", 2);
    EventName late = new EventName("c", "t2", 1);
    for (List<Sighting> bus : List.of(first, second)) {
      bus.add(new Sighting(9, early, 0, "bus"));
      bus.add(new Sighting(10, late, 0, "bus"));
    }
    delivered.add(delivery("c2", new Sighting(9, early, 9_200, "c2")));
    delivered.add(delivery("c2", new Sighting(10, late, 9_300, "c2")));
    broken(HistoryRule.PRODUCER_ORDER);
  }

  @Test
  void aRefusedEventThatIsStoredIsFound() {
    change(4, publication -> answered(publication, new PublishAnswer.Refused("STORE_FULL")));
    broken(HistoryRule.REFUSED_IS_NOWHERE);
  }

  @Test
  void aReadOfWhatIsNotStoredIsFound() {
    read.add(new Sighting(9, new EventName("c", "t1", 1), 9_000, "reader"));
    broken(HistoryRule.READ_IS_STORED);
  }

  @Test
  void aDeliveryOfWhatIsNotStoredIsFound() {
    delivered.add(delivery("c2", new Sighting(9, new EventName("c", "t2", 1), 9_200, "c2")));
    broken(HistoryRule.READ_IS_STORED);
  }

  @Test
  void aLaterPublicationWithAnEarlierPositionIsFound() {
    // Position 7 was confirmed at 850; position 5 was not called before that.
    change(
        4,
        publication ->
            new Publication(
                publication.event(), Publication.NOTHING, 851, 990, publication.answer()));
    broken(HistoryRule.LATER_IS_BEHIND);
  }

  @Test
  void aPublicationOfUnknownOutcomeThatIsStoredTooEarlyIsFound() {
    change(
        4,
        publication ->
            new Publication(
                publication.event(),
                Publication.NOTHING,
                851,
                990,
                new PublishAnswer.Unknown("TimedOut")));
    broken(HistoryRule.LATER_IS_BEHIND);
  }

  @Test
  void twoWinnersOfOneExpectationAreFound() {
    EventName winner = new EventName("c", "contest", 1);
    publications.add(new Publication(winner, 4, 850, 1_200, new PublishAnswer.Stored(9)));
    for (List<Sighting> bus : List.of(first, second)) {
      bus.add(new Sighting(9, winner, 0, "bus"));
    }
    delivered.add(delivery("c2", new Sighting(9, winner, 9_200, "c2")));
    broken(HistoryRule.EXPECTATION_HOLDS);
  }

  @Test
  void anExpectationOfAnEmptyTopicThatIsNotEmptyIsFound() {
    change(
        5,
        publication ->
            new Publication(
                publication.event(),
                0,
                publication.called(),
                publication.answered(),
                publication.answer()));
    broken(HistoryRule.EXPECTATION_HOLDS);
  }

  @Test
  void anEventThatADurableSubscriptionNeverGetsIsFound() {
    delivered.removeIf(delivery -> delivery.seen().position() == 5);
    broken(HistoryRule.DELIVERED_AT_LEAST_ONCE);
    deliveredCuts.add(new Cut(5, 5, "EXPIRED"));
    assertThat(verdict().texts()).isEmpty();
  }

  @Test
  void aSettledEventThatComesAgainIsFound() {
    settlements.add(new Settlement(6, 8_999));
    broken(HistoryRule.SETTLED_NEVER_AGAIN);
  }

  @Test
  void aConsumerThatGoesBackIsFound() {
    delivered.add(delivery("c2", new Sighting(6, log.get(5), 9_200, "c2")));
    broken(HistoryRule.READ_IN_ORDER);
  }

  @Test
  void aSecondConsumerBesideAnActiveOneIsFound() {
    // Position 8 is published at 800.
    delivered.add(delivery("c0", new Sighting(1, log.get(0), 799, "c0")));
    delivered.add(delivery("c2", new Sighting(8, log.get(7), 801, "c2")));
    delivered.removeIf(delivery -> delivery.seen().at() > 801);
    deliveredCuts.add(new Cut(2, 6, "EXPIRED"));
    broken(HistoryRule.ONE_CONSUMER_AT_A_TIME);
    losses.add(new ConsumerLoss("c0", ConsumerLoss.Kind.END, 800));
    assertThat(verdict().texts()).isEmpty();
    losses.clear();
    faults.add(new BusFault("bus of c0", 790, 795, true));
    assertThat(verdict().texts()).isEmpty();
  }

  @Test
  void anEventThatHasWaitedForItsConsumerIsGood() {
    delivered.add(delivery("c3", new Sighting(8, log.get(7), 8_999, "c3")));
    assertThat(verdict().texts()).isEmpty();
  }

  @Test
  void aFewViolationsOfARuleAreShownAndAllAreCounted() {
    for (int i = 1; i <= 1_000; i++) {
      publications.add(
          new Publication(
              new EventName("d", "t1", i),
              Publication.NOTHING,
              5_000 + i,
              8_000,
              new PublishAnswer.Stored(100 + i)));
    }
    HistoryVerdict verdict = verdict();
    assertThat(verdict.findings()).isEqualTo(2_000);
    assertThat(verdict.counts()).containsEntry(HistoryRule.CONFIRMED_IS_STORED, 2_000L);
    assertThat(verdict.texts()).hasSize(Findings.SHOWN);
  }

  @Test
  void withoutAFinalReadNothingIsJudged() {
    assertThatThrownBy(
            () ->
                HistoryVerdict.of(
                    new History(
                        List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                        Set.of())))
        .hasMessage("finals: none (expected: a final read of each bus)");
  }

  @Test
  void timesThatGoBackAreRefused() {
    assertThatThrownBy(
            () ->
                new Publication(
                    new EventName("a", "t1", 1),
                    Publication.NOTHING,
                    5,
                    4,
                    new PublishAnswer.Stored(1)))
        .hasMessage("answered: 4 (expected: at least 5)");
  }
}
