package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ask;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Told;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.server.durable.FakeEvents;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.JournalConsumer;
import io.eventbus.server.samples.SampleFrames.Fed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Consumers of journals, as their client sees them. */
class SessionConsumersTest extends SessionTestCase {
  private static final long ENOUGH = 1L << 30;
  private static final long FIRST_CREATION = FakeJournals.FIRST_CREATION;

  private final FakeJournals journals = Objects.requireNonNull(bus.journals);
  private final Map<String, Long> numbers = new HashMap<>();
  private long published;

  @Override
  SessionFixture bus() {
    return super.bus().withJournals();
  }

  @BeforeEach
  void begin() {
    link.address = "client";
    create("orders", KeepPolicy.ALL);
    Object unused = welcome();
  }

  @AfterEach
  void end() {
    session.onClosed();
    runAll();
  }

  private void create(String name, KeepPolicy keep) {
    var unused =
        journals.create(
            new JournalDefinition(
                name,
                List.of(TopicFilter.parse(name + ".>")),
                keep,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
  }

  /** Publishes events to a topic, whose payloads are their positions. */
  private void publish(String topic, int count) {
    for (int i = 0; i < count; i++) {
      published++;
      publish(1, topic, "" + published);
    }
  }

  private void publish(int journal, String topic, String payload) {
    FakeEvents.publish(journals, journal, topic, numbers.merge(topic, 1L, Long::sum), payload);
  }

  /** Runs what readers and the loop have to do. */
  private void runAll() {
    do {
      bus.reads.run();
      bus.loops.runAll();
      List<Runnable> turns = List.copyOf(link.turns);
      link.turns.clear();
      turns.forEach(Runnable::run);
    } while (bus.reads.waiting() > 0 || bus.loops.waiting(0) > 0 || !link.turns.isEmpty());
  }

  private static byte[] consume(
      long id, String filter, String name, ConsumeStart start, long from, long limit) {
    return ControlFrames.encode(
        TypeCode.CONSUME,
        new Consume(
            id,
            filter,
            "",
            name,
            ConsumeMode.EXCLUSIVE,
            start,
            from,
            limit,
            0L,
            ConsumeStart.UNKNOWN,
            0L,
            0,
            0,
            0));
  }

  private static byte[] replay(long id, ConsumeStart start, long from) {
    return consume(id, "orders.>", "", start, from, ENOUGH);
  }

  private static byte[] credit(long id, long limit) {
    return ControlFrames.encode(TypeCode.CREDIT, new Credit(0L, limit, 0L, id));
  }

  private static Confirm confirm(TypeCode type, long id, String topic, long position) {
    // Of the first journal.
    long creation = type == TypeCode.CONSUME ? FIRST_CREATION : 0;
    return new Confirm(type.code(), id, topic, -1L, position, false, creation);
  }

  private List<Object> start(byte[] consume) {
    handle(consume);
    runAll();
    return link.taken();
  }

  private Problem refused(byte[] consume, ErrorCode code) {
    handle(consume);
    runAll();
    return problem(code, TypeCode.CONSUME, 1, "");
  }

  private static List<String> payloads(List<Object> frames) {
    List<String> all = new ArrayList<>();
    long next = 0;
    for (Object frame : frames) {
      if (frame instanceof Fed fed) {
        assertThat(fed.from())
            .as("no hole and nothing twice")
            .isIn(next, next == 0 ? fed.from() : next);
        next = fed.to() + 1;
        all.addAll(fed.payloads());
      } else if (frame instanceof Truncated truncated) {
        assertThat(truncated.getFrom()).isIn(next, next == 0 ? truncated.getFrom() : next);
        next = truncated.getTo() + 1;
      }
    }
    return all;
  }

  private static List<String> positions(long from, long to) {
    return LongStream.rangeClosed(from, to).mapToObj(Long::toString).toList();
  }

  @Test
  void aReplayGetsWhatIsStoredAndThenWhatFollows() {
    publish("orders.eu", 3);
    List<Object> frames = start(replay(1, ConsumeStart.FIRST, 0));
    assertThat(frames)
        .containsExactly(
            confirm(TypeCode.CONSUME, 1, "orders", 0),
            new Fed(1, 1, 0, 3, List.of()),
            new Fed(1, 1, 3, 3, positions(1, 3)));
    int reads = bus.reads.ran();
    publish("orders.us", 2);
    runAll();
    assertThat(payloads(link.taken())).isEqualTo(positions(4, 5));
    assertThat(bus.reads.ran()).as("nothing is read from the disk").isEqualTo(reads);
  }

  @Test
  void aReplayBeginsWhereItsClientSays() {
    publish("orders.eu", 5);
    assertThat(payloads(start(replay(1, ConsumeStart.POSITION, 4)))).isEqualTo(positions(4, 5));
    List<Object> fresh = start(replay(2, ConsumeStart.NEW, 0));
    assertThat(fresh).contains(new Fed(2, 6, 5, 5, List.of()));
    assertThat(payloads(start(replay(3, ConsumeStart.TIME, 1)))).isEqualTo(positions(1, 5));
    publish("orders.eu", 1);
    runAll();
    assertThat(payloads(link.taken().subList(1, 2))).isEqualTo(positions(6, 6));
  }

  @Test
  void aReplayFromAPositionThatThisBusDoesNotHaveYetWaitsForIt() {
    publish("orders.eu", 2);
    journals.holds(true);
    publish("orders.eu", 2);
    // Another bus has told the client of the event at position 3.
    assertThat(start(replay(1, ConsumeStart.POSITION, 4))).isEmpty();
    journals.holds(false);
    journals.applyHeld();
    runAll();
    List<Object> frames = link.taken();
    assertThat(frames).contains(confirm(TypeCode.CONSUME, 1, "orders", 0));
    assertThat(payloads(frames)).containsExactly("4");
  }

  @Test
  void aReplayFromAPositionThatNoBusHasIsRefused() {
    journals.holds(true);
    publish("orders.eu", 2);
    assertThat(start(replay(1, ConsumeStart.POSITION, 4))).isEmpty();
    journals.applyHeld();
    runAll();
    assertThat(problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.CONSUME, 1, "").getMessage())
        .contains("from: 4 is beyond the end of the journal (expected: at most 3)");
  }

  @Test
  void aReplayThatEndsWhileItWaitsForItsPositionIsOver() {
    publish("orders.eu", 1);
    journals.holds(true);
    publish("orders.eu", 1);
    assertThat(start(replay(1, ConsumeStart.POSITION, 3))).isEmpty();
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    journals.applyHeld();
    runAll();
    assertThat(link.taken()).contains(new Drained(1L)).noneMatch(Fed.class::isInstance);
  }

  @Test
  void onlyEventsOfTheFilterComeAndTheRestIsCovered() {
    publish("orders.eu", 2);
    publish("orders.us", 2);
    List<Object> frames = start(consume(1, "orders.us", "", ConsumeStart.FIRST, 0, ENOUGH));
    assertThat(frames.get(2)).isEqualTo(new Fed(1, 1, 4, 4, positions(3, 4)));
    publish("orders.eu", 1);
    publish("orders.us", 1);
    runAll();
    assertThat(link.taken()).containsExactly(new Fed(1, 5, 6, 6, List.of("6")));
  }

  @Test
  void aClientThatHearsOfNoEventsIsToldHowFarItHasCome() throws InterruptedException {
    List<Object> unused = start(consume(1, "orders.us", "", ConsumeStart.NEW, 0, ENOUGH));
    publish("orders.eu", 3);
    runAll();
    assertThat(link.taken()).isEmpty();
    assertThat(session.onTick(0)).isTrue();
    assertThat(link.taken()).isEmpty();
    bus.reads.passSeconds(1);
    assertThat(session.onTick(0)).isTrue();
    assertThat(link.taken()).containsExactly(new Fed(1, 1, 3, 3, List.of()));
  }

  @Test
  void aConsumerGetsNoMoreThanItsClientGrants() {
    publish("orders.eu", 3);
    List<Object> none = start(consume(1, "orders.>", "", ConsumeStart.FIRST, 0, 0));
    assertThat(none).containsExactly(confirm(TypeCode.CONSUME, 1, "orders", 0));
    handle(credit(1, 1));
    runAll();
    assertThat(link.taken()).containsExactly(new Fed(1, 1, 0, 3, List.of()));
    handle(credit(1, 20));
    runAll();
    assertThat(payloads(link.taken())).isEqualTo(positions(1, 3));
    publish("orders.eu", 2);
    runAll();
    assertThat(link.taken()).isEmpty();
    assertThat(link.limits).as("deliveries have their own credit").isEmpty();
    handle(credit(1, ENOUGH));
    runAll();
    assertThat(payloads(link.taken())).isEqualTo(positions(4, 5));
  }

  @Test
  void whatWaitsForASlowClientIsBoundedAndOthersGoOn() {
    link.holdsFeed = true;
    String large = "x".repeat(100_000);
    for (int i = 0; i < 20; i++) {
      publish(1, "orders.eu", large);
    }
    List<Object> first = start(replay(1, ConsumeStart.FIRST, 0));
    assertThat(link.feedBytes).isBetween(400_000L, 900_000L);
    List<Object> second = start(consume(2, "orders.us", "", ConsumeStart.FIRST, 0, ENOUGH));
    assertThat(second).contains(new Fed(2, 1, 0, 20, List.of()));
    int got = payloads(first).size();
    for (int i = 0; i < 10; i++) {
      link.writeFeed();
      runAll();
      got +=
          payloads(
                  link.taken().stream().filter(f -> f instanceof Fed fed && fed.id() == 1).toList())
              .size();
    }
    assertThat(got).isEqualTo(20);
  }

  @Test
  void eventsThatAreGoneAreTold() {
    publish("orders.eu", 6);
    var unused = journals.trim(1, 2);
    var unusedPurge = journals.purge(1, "", 4, 4);
    List<Object> frames = start(replay(1, ConsumeStart.POSITION, 1));
    assertThat(frames)
        .contains(new Truncated(1L, 1L, 2L, TruncatedReason.RETENTION))
        .contains(new Truncated(1L, 4L, 4L, TruncatedReason.PURGED));
    assertThat(payloads(frames)).containsExactly("3", "5", "6");
  }

  @Test
  void refusalsSayWhy() {
    create("prices", KeepPolicy.LATEST);
    publish("orders.eu", 1);
    refused(consume(1, "a..b", "", ConsumeStart.FIRST, 0, 1), ErrorCode.ILLEGAL_FILTER);
    refused(consume(1, "other", "", ConsumeStart.FIRST, 0, 1), ErrorCode.NO_JOURNAL);
    assertThat(
            refused(consume(1, ">", "", ConsumeStart.FIRST, 0, 1), ErrorCode.NO_JOURNAL)
                .getMessage())
        .contains("orders, prices");
    refused(replay(1, ConsumeStart.LATEST_VALUES, 0), ErrorCode.UNSUPPORTED);
    refused(replay(1, ConsumeStart.UNKNOWN, 0), ErrorCode.UNSUPPORTED);
    refused(replay(1, ConsumeStart.POSITION, 3), ErrorCode.LIMIT_EXCEEDED);
    journals.unavailable(true);
    assertThat(refused(replay(1, ConsumeStart.FIRST, 0), ErrorCode.UNAVAILABLE).getRetryable())
        .isTrue();
    journals.unavailable(false);
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    refused(replay(1, ConsumeStart.FIRST, 0), ErrorCode.DUPLICATE_SUBSCRIPTION);
    handle(subscribe(1, "other", null));
    problem(ErrorCode.DUPLICATE_SUBSCRIPTION, TypeCode.SUBSCRIBE, 1, "");
    for (int id = 2; id <= SUBSCRIPTIONS; id++) {
      List<Object> more = start(replay(id, ConsumeStart.NEW, 0));
      assertThat(more).hasSize(2);
    }
    handle(replay(9, ConsumeStart.NEW, 0));
    problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.CONSUME, 9, "");
  }

  @Test
  void anEndIsConfirmedAndItsIdIsFree() {
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken())
        .containsExactly(confirm(TypeCode.UNSUBSCRIBE, 1, "", 0), new Drained(1L));
    publish("orders.eu", 1);
    runAll();
    assertThat(link.taken()).isEmpty();
    assertThat(payloads(start(replay(1, ConsumeStart.FIRST, 0)))).containsExactly("1");
    handle(
        replay(2, ConsumeStart.FIRST, 0),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(2L)));
    runAll();
    assertThat(link.taken())
        .as("before it has begun")
        .containsExactly(
            confirm(TypeCode.CONSUME, 2, "orders", 0),
            confirm(TypeCode.UNSUBSCRIBE, 2, "", 0),
            new Drained(2L));
  }

  @Test
  void aJournalThatIsDeletedEndsItsConsumers() {
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    var unusedDelete = journals.delete(1);
    runAll();
    problem(ErrorCode.NO_JOURNAL, TypeCode.CONSUME, 1, "");
  }

  /** Returns the request of a client that has got two events of a creation of the journal. */
  private static byte[] goOn(String name, long creation) {
    return ControlFrames.encode(
        TypeCode.CONSUME,
        new Consume(
            1L,
            "orders.>",
            "orders",
            name,
            ConsumeMode.EXCLUSIVE,
            name.isEmpty() ? ConsumeStart.POSITION : ConsumeStart.FIRST,
            name.isEmpty() ? 3L : 0L,
            ENOUGH,
            creation,
            ConsumeStart.FIRST,
            0L,
            0,
            0,
            0));
  }

  private static Confirm accepted(long creation) {
    return new Confirm(TypeCode.CONSUME.code(), 1L, "orders", -1L, 0L, false, creation);
  }

  private void createAgain() {
    var unused = journals.delete(1);
    create("orders", KeepPolicy.ALL);
  }

  @Test
  void aReplayGoesOnInTheCreationThatItHasRead() {
    publish("orders.eu", 4);
    List<Object> frames = start(goOn("", FIRST_CREATION));
    assertThat(frames).contains(accepted(FIRST_CREATION));
    assertThat(payloads(frames)).isEqualTo(positions(3, 4));
  }

  @Test
  void aReplayOfAnotherCreationBeginsWhereItsClientSaysForIt() {
    publish("orders.eu", 4);
    createAgain();
    FakeEvents.publish(journals, 2, "orders.eu", 1, "new 1");
    FakeEvents.publish(journals, 2, "orders.eu", 2, "new 2");
    FakeEvents.publish(journals, 2, "orders.eu", 3, "new 3");
    List<Object> frames = start(goOn("", FIRST_CREATION));
    assertThat(frames).contains(accepted(FIRST_CREATION + 1));
    assertThat(payloads(frames)).containsExactly("new 1", "new 2", "new 3");
  }

  @Test
  void withoutAStartForAnotherCreationAConsumerIsRefused() {
    createAgain();
    byte[] consume =
        ControlFrames.encode(
            TypeCode.CONSUME,
            new Consume(
                1L,
                "orders.>",
                "orders",
                "",
                ConsumeMode.EXCLUSIVE,
                ConsumeStart.POSITION,
                1L,
                ENOUGH,
                FIRST_CREATION,
                ConsumeStart.UNKNOWN,
                0L,
                0,
                0,
                0));
    var unused = refused(consume, ErrorCode.UNSUPPORTED);
  }

  @Test
  void aBusThatIsBehindWaitsBeforeItComparesCreations() {
    journals.holds(true);
    createAgain();
    FakeEvents.publish(journals, 2, "orders.eu", 1, "new 1");
    FakeEvents.publish(journals, 2, "orders.eu", 2, "new 2");
    FakeEvents.publish(journals, 2, "orders.eu", 3, "new 3");
    handle(goOn("", FIRST_CREATION + 1));
    runAll();
    assertThat(link.taken()).as("the deletion is not known here").isEmpty();
    handle(goOn("", FIRST_CREATION + 1));
    problem(ErrorCode.DUPLICATE_SUBSCRIPTION, TypeCode.CONSUME, 1, "");
    journals.applyHeld();
    runAll();
    List<Object> frames = link.taken();
    assertThat(frames).contains(accepted(FIRST_CREATION + 1));
    assertThat(payloads(frames)).containsExactly("new 3");
  }

  @Test
  void aBusThatDoesNotKnowTheJournalYetWaitsForIt() {
    var unusedDelete = journals.delete(1);
    journals.holds(true);
    create("orders", KeepPolicy.ALL);
    handle(goOn("", FIRST_CREATION + 1));
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken())
        .containsExactly(
            accepted(FIRST_CREATION + 1), confirm(TypeCode.UNSUBSCRIBE, 1, "", 0), new Drained(1L));
    handle(goOn("billing", FIRST_CREATION + 1));
    journals.holds(false);
    journals.applyHeld();
    runAll();
    assertThat(link.taken()).contains(accepted(FIRST_CREATION + 1));
  }

  @Test
  void aBusThatCannotCatchUpRefusesAnotherCreationForAWhile() {
    createAgain();
    journals.unavailable(true);
    Problem problem = refused(goOn("billing", FIRST_CREATION), ErrorCode.UNAVAILABLE);
    assertThat(problem.getRetryable()).isTrue();
    journals.unavailable(false);
    assertThat(start(goOn("billing", FIRST_CREATION))).contains(accepted(FIRST_CREATION + 1));
  }

  @Test
  void eventsOfAnotherCreationAreNotSettled() {
    createAgain();
    FakeEvents.publish(journals, 2, "orders.eu", 1, "new 1");
    assertThat(payloads(start(goOn("billing", FIRST_CREATION)))).containsExactly("new 1");
    handle(
        ControlFrames.encode(
            TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, true, FIRST_CREATION)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.SETTLE, 1, "");
    assertThat(Objects.requireNonNull(journals.cursor(2, "billing")).floor()).isZero();
    handle(
        ControlFrames.encode(
            TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, true, FIRST_CREATION + 1)));
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SETTLE, 1, "", 1));
  }

  @Test
  void aConsumerGetsWhatACopyOfTheReplicaHasBrought() {
    create("prices", KeepPolicy.LATEST);
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    publish("orders.eu", 2);
    runAll();
    assertThat(payloads(link.taken())).isEqualTo(positions(1, 2));
    journals.copies(true);
    publish("orders.eu", 3);
    journals.copies(false);
    publish("orders.eu", 1);
    runAll();
    assertThat(payloads(link.taken())).isEqualTo(positions(3, 6));
    journals.copies(true);
    publish("orders.eu", 2);
    journals.copies(false);
    publish(2, "prices.eu", "another journal");
    runAll();
    assertThat(payloads(link.taken())).as("nothing follows").isEqualTo(positions(7, 8));
  }

  @Test
  void anEventThatHasExpiredIsToldAlsoIfOthersGotIt() {
    create("prices", KeepPolicy.LATEST);
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    FakeEvents.publishFor(journals, 3, 1, "orders.eu", 1, "short");
    runAll();
    assertThat(payloads(link.taken())).containsExactly("short");
    publish(2, "prices.eu", "another journal");
    publish(2, "prices.eu", "another journal");
    publish(2, "prices.eu", "another journal");
    assertThat(start(replay(2, ConsumeStart.FIRST, 0)))
        .contains(new Truncated(2L, 1L, 1L, TruncatedReason.EXPIRED));
  }

  @Test
  void aNewReplayGetsNothingThatWasStoredBeforeAtAnotherBus() {
    publish("orders.eu", 1);
    journals.holds(true);
    publish("orders.eu", 2);
    assertThat(start(replay(1, ConsumeStart.NEW, 0))).isEmpty();
    handle(ControlFrames.encode(TypeCode.ASK, new Ask(7L, "orders", "", "", 0L)));
    runAll();
    assertThat(link.taken()).isEmpty();
    journals.holds(false);
    journals.applyHeld();
    runAll();
    assertThat(link.taken())
        .contains(new Fed(1, 4, 3, 3, List.of()), new Told(7L, "orders", 1L, 3L, 0L, 0L, -1L));
  }

  @Test
  void aReadThatFailsEndsWhatHasAskedForIt() {
    publish("orders.eu", 2);
    journals.fails(true);
    assertThat(refused(replay(1, ConsumeStart.FIRST, 0), ErrorCode.UNAVAILABLE).getRetryable())
        .isTrue();
    for (int i = 0; i <= JournalQuestions.MAX_OPEN; i++) {
      handle(ControlFrames.encode(TypeCode.ASK, new Ask(7L, "orders", "", "", 0L)));
      runAll();
      assertThat(problem(ErrorCode.UNAVAILABLE, TypeCode.ASK, 7, "").getRetryable()).isTrue();
    }
    journals.fails(false);
    List<Object> unused = start(consume(1, "orders.>", "", ConsumeStart.FIRST, 0, 0));
    journals.fails(true);
    handle(credit(1, ENOUGH));
    runAll();
    assertThat(link.taken().get(1))
        .isInstanceOfSatisfying(
            Problem.class,
            problem -> assertThat(problem.getCode()).isEqualTo(ErrorCode.UNAVAILABLE));
  }

  @Test
  void aJournalThatACopyOfTheReplicaHasNoMoreEndsItsConsumers() {
    create("prices", KeepPolicy.LATEST);
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    journals.copies(true);
    var unusedDelete = journals.delete(1);
    journals.copies(false);
    runAll();
    assertThat(link.taken()).isEmpty();
    publish(2, "prices.eu", "another journal");
    runAll();
    problem(ErrorCode.NO_JOURNAL, TypeCode.CONSUME, 1, "");
  }

  @Test
  void whatIsSettledDoesNotComeAgain() {
    publish("orders.eu", 5);
    byte[] billing = consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH);
    assertThat(payloads(start(billing))).isEqualTo(positions(1, 5));
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 3L, true, 0L)));
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SETTLE, 1, "", 3));
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 6L, true, 0L)));
    problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.SETTLE, 1, "");
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    List<Object> ended = link.taken();
    assertThat(ended).hasSize(2);
    List<Object> again = start(billing);
    assertThat(again).contains(new Fed(1, 4, 3, 5, List.of()));
    assertThat(payloads(again)).isEqualTo(positions(4, 5));
  }

  @Test
  void theCursorOfAnIdleConsumerIsUsedOnceADay() {
    publish("orders.eu", 2);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    CursorView before = Objects.requireNonNull(journals.cursor(1, "billing"));
    bus.reads.passSeconds(TimeUnit.NANOSECONDS.toSeconds(SessionConsumers.KEEP_NANOS) - 1);
    assertThat(session.onTick(0)).isTrue();
    assertThat(journals.cursor(1, "billing")).isEqualTo(before);
    bus.reads.passSeconds(1);
    assertThat(session.onTick(0)).isTrue();
    CursorView after = Objects.requireNonNull(journals.cursor(1, "billing"));
    assertThat(after.stamp()).isGreaterThan(before.stamp());
    assertThat(after.floor()).isEqualTo(before.floor());
    assertThat(link.taken()).isEmpty();
  }

  @Test
  void settlementsAreStoredTogetherWhileOneIsUnderWay() {
    publish("orders.eu", 5);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    journals.holds(true);
    for (long upTo = 1; upTo <= 5; upTo++) {
      handle(
          ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, upTo, upTo != 3, 0L)));
    }
    assertThat(link.taken()).isEmpty();
    journals.applyHeld();
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SETTLE, 1, "", 1));
    journals.applyHeld();
    assertThat(link.taken())
        .containsExactly(
            confirm(TypeCode.SETTLE, 1, "", 2),
            confirm(TypeCode.SETTLE, 1, "", 4),
            confirm(TypeCode.SETTLE, 1, "", 5));
    journals.applyHeld();
    journals.holds(false);
    assertThat(Objects.requireNonNull(journals.cursor(1, "billing")).floor()).isEqualTo(5);
  }

  @Test
  void whatIsSettledLastIsStoredBeforeTheNextConsumerBegins() {
    publish("orders.eu", 5);
    byte[] billing = consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH);
    List<Object> unused = start(billing);
    journals.holds(true);
    handle(
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, false, 0L)),
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 4L, false, 0L)),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken()).hasSize(2);
    journals.holds(false);
    journals.applyHeld();
    assertThat(payloads(start(billing))).containsExactly("5");
  }

  @Test
  void eachSettlementIsAnsweredWhenItsConsumerHasEnded() {
    publish("orders.eu", 5);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    journals.holds(true);
    handle(
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, true, 0L)),
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 4L, true, 0L)),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken()).hasSize(2);
    journals.holds(false);
    journals.applyHeld();
    runAll();
    assertThat(link.taken())
        .containsExactly(confirm(TypeCode.SETTLE, 1, "", 1), confirm(TypeCode.SETTLE, 1, "", 4));
  }

  @Test
  void aSettlementThatIsNotStoredIsToldWhenItsConsumerHasEnded() {
    publish("orders.eu", 5);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    journals.holds(true);
    handle(
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 4L, true, 0L)),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken()).hasSize(2);
    journals.holds(false);
    journals.unavailable(true);
    journals.applyHeld();
    assertThat(problem(ErrorCode.UNAVAILABLE, TypeCode.SETTLE, 1, "").getRetryable()).isTrue();
    journals.unavailable(false);
    bus.reads.passSeconds(1);
    runAll();
  }

  @Test
  void onlyAConsumerThatIsActiveSettles() {
    publish("orders.eu", 3);
    handle(
        consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH),
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 3L, true, 0L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.SETTLE, 1, "");
    runAll();
    assertThat(link.taken()).hasSize(3);
    List<Object> second = start(consume(2, "orders.>", "billing", ConsumeStart.NEW, 0, ENOUGH));
    assertThat(second).hasSize(1);
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(2L, 3L, true, 0L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.SETTLE, 2, "");
  }

  @Test
  void answersToSettlementsAreBounded() {
    publish("orders.eu", 1);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    journals.holds(true);
    byte[] settle =
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, true, 0L));
    for (int i = 0; i < JournalConsumer.MAX_CONFIRMATIONS; i++) {
      context.budget().renew();
      handle(settle);
    }
    assertThat(link.taken()).isEmpty();
    handle(settle);
    problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.SETTLE, 1, "");
    journals.applyHeld();
    journals.holds(false);
    assertThat(link.taken()).hasSize(JournalConsumer.MAX_CONFIRMATIONS);
  }

  @Test
  void aSettlementWithoutAnAnswerIsToldAndTriedAgain() {
    publish("orders.eu", 5);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    journals.unavailable(true);
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 4L, true, 0L)));
    assertThat(problem(ErrorCode.UNAVAILABLE, TypeCode.SETTLE, 1, "").getRetryable()).isTrue();
    journals.unavailable(false);
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 2L, true, 0L)));
    assertThat(link.taken()).containsExactly(confirm(TypeCode.SETTLE, 1, "", 2));
    assertThat(Objects.requireNonNull(journals.cursor(1, "billing")).floor()).isEqualTo(4);
  }

  @Test
  void onlyConsumersWithANameSettle() {
    List<Object> unused = start(replay(1, ConsumeStart.FIRST, 0));
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, true, 0L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.SETTLE, 1, "");
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(2L, 1L, false, 0L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.SETTLE, 2, "");
  }

  @Test
  void theSecondConsumerOfANameStandsByAndTakesOver() {
    publish("orders.eu", 3);
    List<Object> first = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    assertThat(payloads(first)).isEqualTo(positions(1, 3));
    List<Object> second = start(consume(2, "orders.>", "billing", ConsumeStart.NEW, 0, ENOUGH));
    assertThat(second).containsExactly(confirm(TypeCode.CONSUME, 2, "orders", 0));
    handle(
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 2L, false, 0L)),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    runAll();
    List<Object> over = link.taken();
    assertThat(over).contains(new Fed(2, 3, 2, 3, List.of()));
    assertThat(payloads(over)).containsExactly("3");
    handle(consume(3, "orders.us", "billing", ConsumeStart.NEW, 0, ENOUGH));
    runAll();
    problem(ErrorCode.DUPLICATE_SUBSCRIPTION, TypeCode.CONSUME, 3, "");
  }

  @Test
  void aConsumerThatTheJournalHasReplacedEnds() {
    publish("orders.eu", 3);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    var unusedAttach = journals.attachCursor(1, "billing", "other", 2);
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 2L, false, 0L)));
    problem(ErrorCode.REPLACED, TypeCode.CONSUME, 1, "");
  }

  @Test
  void aSettlementOfAConsumerThatIsReplacedIsAnswered() {
    publish("orders.eu", 3);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    var unusedAttach = journals.attachCursor(1, "billing", "other", 2);
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 2L, true, 0L)));
    assertThat(link.taken())
        .extracting(frame -> ((Problem) frame).getCode())
        .containsExactly(ErrorCode.UNAVAILABLE, ErrorCode.REPLACED);
  }

  @Test
  void aSettlementThatIsRefusedIsToldWhenItsConsumerHasEnded() {
    publish("orders.eu", 3);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    var unusedAttach = journals.attachCursor(1, "billing", "other", 2);
    journals.holds(true);
    handle(
        ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 2L, true, 0L)),
        ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    assertThat(link.taken()).hasSize(2);
    journals.holds(false);
    journals.applyHeld();
    problem(ErrorCode.UNAVAILABLE, TypeCode.SETTLE, 1, "");
    runAll();
  }

  @Test
  void latestValuesComeFirstAndThenEveryChange() {
    create("prices", KeepPolicy.LATEST);
    for (int i = 1; i <= 6; i++) {
      publish(2, "prices." + i % 2, "" + i);
    }
    List<Object> frames = start(consume(1, "prices.>", "", ConsumeStart.LATEST_VALUES, 0, ENOUGH));
    assertThat(payloads(frames)).containsExactly("5", "6");
    int reads = bus.reads.ran();
    for (int i = 7; i <= 9; i++) {
      publish(2, "prices." + i % 2, "" + i);
    }
    runAll();
    // Of these only the last is kept: the positions before it stay empty.
    FakeEvents.publish(journals, 2, "prices.9", 1, "10", "11", "12");
    runAll();
    assertThat(payloads(link.taken())).containsExactly("7", "8", "9", "12");
    assertThat(bus.reads.ran()).as("nothing is read from the disk").isEqualTo(reads);
  }

  @Test
  void aQuestionIsAnswered() {
    publish("orders.eu", 3);
    publish("orders.us", 1);
    List<Object> unused = start(consume(1, "orders.>", "billing", ConsumeStart.FIRST, 0, ENOUGH));
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 2L, false, 0L)));
    handle(ControlFrames.encode(TypeCode.ASK, new Ask(7L, "", "orders.eu", "billing", 1L)));
    runAll();
    assertThat(link.taken()).containsExactly(new Told(7L, "orders", 1L, 4L, 3L, 1L, 2L));
    handle(ControlFrames.encode(TypeCode.ASK, new Ask(8L, "orders", "", "other", 0L)));
    runAll();
    assertThat(link.taken()).containsExactly(new Told(8L, "orders", 1L, 4L, 0L, 0L, -1L));
    handle(ControlFrames.encode(TypeCode.ASK, new Ask(9L, "", "other", "", 0L)));
    problem(ErrorCode.NO_JOURNAL, TypeCode.ASK, 9, "");
    for (int i = 0; i < JournalQuestions.MAX_OPEN; i++) {
      handle(ControlFrames.encode(TypeCode.ASK, new Ask((long) i, "orders", "", "", 0L)));
    }
    handle(ControlFrames.encode(TypeCode.ASK, new Ask(99L, "orders", "", "", 0L)));
    problem(ErrorCode.LIMIT_EXCEEDED, TypeCode.ASK, 99, "");
    runAll();
    assertThat(link.taken()).hasSize(JournalQuestions.MAX_OPEN);
  }
}
