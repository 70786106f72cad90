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
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.server.durable.FakeEvents;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.JournalConsumer;
import io.eventbus.server.samples.SampleFrames.FedShared;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Consumers of shared durable subscriptions, as their client sees them. */
class SharedConsumersOfSessionTest extends SessionTestCase {
  private final FakeJournals journals = Objects.requireNonNull(bus.journals);
  private long published;

  @Override
  SessionFixture bus() {
    return super.bus().withJournals().config(Map.of("limits.subscription-bytes", "10MiB"));
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
    assertThat(session.keptBytes()).isLessThan(1_000);
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

  private void publish(int count) {
    for (int i = 0; i < count; i++) {
      published++;
      FakeEvents.publish(journals, 1, "orders.eu", published, "" + published);
    }
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
      String filter, String name, ConsumeMode mode, ConsumeStart start, int... limits) {
    return ControlFrames.encode(
        TypeCode.CONSUME,
        new Consume(
            1L,
            filter,
            "",
            name,
            mode,
            start,
            0L,
            1L << 30,
            0L,
            ConsumeStart.UNKNOWN,
            0L,
            limits.length > 0 ? limits[0] : 0,
            limits.length > 1 ? limits[1] : 0,
            limits.length > 2 ? limits[2] : 0));
  }

  private static byte[] shared(int... limits) {
    return consume("orders.>", "jobs", ConsumeMode.SHARED, ConsumeStart.FIRST, limits);
  }

  private List<Object> start(byte[] consume) {
    handle(consume);
    runAll();
    return link.taken();
  }

  private String refused(byte[] consume, ErrorCode code) {
    handle(consume);
    runAll();
    return problem(code, TypeCode.CONSUME, 1, "").getMessage();
  }

  private void settle(long from, long upTo, SettleOutcome outcome, int attempt, int delay) {
    handle(
        ControlFrames.encode(
            TypeCode.SETTLE,
            new Settle(1L, upTo, true, 0L, from, outcome, attempt, delay, "reason")));
    runAll();
  }

  private String settleRefused(ErrorCode code) {
    return problem(code, TypeCode.SETTLE, 1, "").getMessage();
  }

  private static Confirm settled(long upTo) {
    return new Confirm(TypeCode.SETTLE.code(), 1L, "", -1L, upTo, false, 0L);
  }

  private CursorView cursor() {
    return Objects.requireNonNull(journals.cursor(1, "jobs"));
  }

  @Test
  void whatCannotBeSharedIsRefused() {
    create("prices", KeepPolicy.LATEST);
    assertThat(
            refused(
                consume("orders.>", "", ConsumeMode.SHARED, ConsumeStart.FIRST),
                ErrorCode.UNSUPPORTED))
        .isEqualTo("SHARED without a name (expected: the name of a durable subscription)");
    assertThat(
            refused(
                consume("prices.>", "jobs", ConsumeMode.SHARED, ConsumeStart.FIRST),
                ErrorCode.UNSUPPORTED))
        .contains("(expected for SHARED: one that keeps all events)");
    assertThat(
            refused(
                consume("orders.>", "jobs", ConsumeMode.SHARED, ConsumeStart.LATEST_VALUES),
                ErrorCode.UNSUPPORTED))
        .contains("(expected: FIRST, NEW, POSITION or TIME)");
    assertThat(
            refused(
                consume("orders.>", "jobs", ConsumeMode.UNKNOWN, ConsumeStart.FIRST),
                ErrorCode.UNSUPPORTED))
        .contains("(expected: EXCLUSIVE, SHARED or KEY_SHARED)");
    assertThat(
            refused(
                consume("orders.>", "", ConsumeMode.KEY_SHARED, ConsumeStart.FIRST),
                ErrorCode.UNSUPPORTED))
        .isEqualTo("KEY_SHARED without a name (expected: the name of a durable subscription)");
    assertThat(
            refused(
                consume("orders.>", "jobs", ConsumeMode.KEY_SHARED, ConsumeStart.FIRST, 1_025),
                ErrorCode.LIMIT_EXCEEDED))
        .isEqualTo("maxEvents: 1025 (expected: 1..1024)");
    assertThat(refused(shared(1_025), ErrorCode.LIMIT_EXCEEDED))
        .isEqualTo("maxEvents: 1025 (expected: 1..1024)");
    assertThat(refused(shared(0, 999), ErrorCode.LIMIT_EXCEEDED))
        .isEqualTo("ackTimeoutMillis: 999 (expected: 1000..43200000)");
    assertThat(refused(shared(0, 0, 1_001), ErrorCode.LIMIT_EXCEEDED))
        .isEqualTo("maxAttempts: 1001 (expected: 1..1000)");
  }

  @Test
  void aSubscriptionKeepsItsModeAndItsFilter() {
    assertThat(start(shared())).hasSize(1);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    runAll();
    List<Object> unused = link.taken();
    assertThat(
            refused(
                consume("orders.>", "jobs", ConsumeMode.EXCLUSIVE, ConsumeStart.FIRST),
                ErrorCode.DUPLICATE_SUBSCRIPTION))
        .contains("expected");
    assertThat(
            refused(
                consume("orders.us", "jobs", ConsumeMode.SHARED, ConsumeStart.FIRST),
                ErrorCode.DUPLICATE_SUBSCRIPTION))
        .contains("expected");
  }

  @Test
  void eachOutcomeIsStored() {
    publish(1);
    List<Object> frames = start(shared());
    assertThat(((Confirm) frames.get(0)).getTopic()).isEqualTo("orders");
    assertThat(frames.get(1)).isEqualTo(new FedShared(1, 1, 1, 1, List.of(1L), List.of("1")));
    publish(4);
    runAll();
    assertThat(link.taken()).isNotEmpty();
    settle(1, 1, SettleOutcome.DONE, 1, -1);
    assertThat(link.taken()).containsExactly(settled(1));
    settle(2, 2, SettleOutcome.RETRY, 1, 60_000);
    settle(3, 3, SettleOutcome.REJECT, 1, -1);
    settle(5, 5, SettleOutcome.EXTEND, 1, -1);
    assertThat(link.taken()).containsExactly(settled(2), settled(3), settled(5));
    assertThat(cursor().waiting()).isEqualTo(1);
    assertThat(journals.deadEvents(1, "jobs", 0, 9).get(0).reason()).isEqualTo("reason");
    assertThat(cursor().inFlight()).isEqualTo(2);
    settle(4, 4, SettleOutcome.RELEASE, 1, -1);
    assertThat(link.taken())
        .contains(settled(4), new FedShared(1, 4, 4, 1, List.of(4L), List.of("4")));
  }

  @Test
  void eventsOfAKeyComeOneAfterTheOther() {
    publish(3);
    List<Object> frames =
        start(consume("orders.>", "jobs", ConsumeMode.KEY_SHARED, ConsumeStart.FIRST));
    assertThat(frames.get(1)).isEqualTo(new FedShared(1, 1, 1, 1, List.of(1L), List.of("1")));
    assertThat(frames).hasSize(2);
    settle(1, 1, SettleOutcome.EXTEND, 1, -1);
    assertThat(link.taken()).containsExactly(settled(1));
    settle(1, 1, SettleOutcome.DONE, 2, -1);
    assertThat(settleRefused(ErrorCode.UNKNOWN_SUBSCRIPTION)).contains("positions 1..1");
    settle(1, 1, SettleOutcome.DONE, 1, -1);
    assertThat(link.taken())
        .containsExactlyInAnyOrder(
            settled(1), new FedShared(1, 2, 2, 1, List.of(2L), List.of("2")));
    settle(2, 2, SettleOutcome.RETRY, 1, 0);
    assertThat(link.taken())
        .containsExactlyInAnyOrder(
            settled(2), new FedShared(1, 2, 2, 2, List.of(2L), List.of("2")));
    settle(2, 2, SettleOutcome.REJECT, 2, -1);
    assertThat(link.taken())
        .containsExactlyInAnyOrder(
            settled(2), new FedShared(1, 3, 3, 1, List.of(3L), List.of("3")));
    assertThat(journals.deadEvents(1, "jobs", 0, 9).get(0).reason()).isEqualTo("reason");
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    settle(3, 3, SettleOutcome.RELEASE, 1, -1);
    assertThat(link.taken()).contains(settled(3), new Drained(1L));
    assertThat(cursor().consumers()).isZero();
    assertThat(cursor().head()).isEqualTo(2);
  }

  @Test
  void settlementsThatMakeNoSenseAreRefused() {
    publish(2);
    List<Object> unused = start(shared());
    settle(1, 9, SettleOutcome.DONE, 1, -1);
    assertThat(settleRefused(ErrorCode.LIMIT_EXCEEDED))
        .isEqualTo("upTo: 9 was not sent (expected: at most 2, the last position of the consumer)");
    settle(0, 2, SettleOutcome.DONE, 1, -1);
    assertThat(settleRefused(ErrorCode.UNSUPPORTED)).contains("(expected for SHARED: ");
    settle(1, 2, SettleOutcome.DONE, 0, -1);
    assertThat(settleRefused(ErrorCode.UNSUPPORTED)).contains("(expected for SHARED: ");
    settle(1, 2, SettleOutcome.UNKNOWN, 1, -1);
    assertThat(settleRefused(ErrorCode.UNSUPPORTED)).contains("the outcome is unknown");
    settle(1, 2, SettleOutcome.RETRY, 1, 604_800_001);
    assertThat(settleRefused(ErrorCode.LIMIT_EXCEEDED)).contains("(expected: at most 604800000)");
    settle(1, 1, SettleOutcome.DONE, 2, -1);
    assertThat(settleRefused(ErrorCode.UNKNOWN_SUBSCRIPTION)).contains("positions 1..1");
    settle(1, 1, SettleOutcome.DONE, 1, -1);
    assertThat(link.taken()).containsExactly(settled(1));
    settle(1, 1, SettleOutcome.DONE, 1, -1);
    assertThat(settleRefused(ErrorCode.UNKNOWN_SUBSCRIPTION)).contains("positions 1..1");
    assertThat(bus.counters.loops().get(0).lateSettlements.get()).isEqualTo(2);
    assertThat(cursor().inFlight()).isEqualTo(1);
  }

  @Test
  void onlySharedConsumersSettleOtherwise() {
    publish(2);
    List<Object> unused =
        start(consume("orders.>", "billing", ConsumeMode.EXCLUSIVE, ConsumeStart.FIRST));
    settle(0, 1, SettleOutcome.RETRY, 0, -1);
    assertThat(settleRefused(ErrorCode.UNSUPPORTED)).contains("not SHARED (expected: DONE from 0)");
    handle(ControlFrames.encode(TypeCode.SETTLE, DurableFrames.settleUpTo(1L, 1L, true, 0L)));
    assertThat(link.taken()).containsExactly(settled(1));
  }

  @Test
  void answersToSettlementsAreBounded() {
    publish(300);
    List<Object> unused = start(shared(300));
    journals.holds(true);
    int asked = 0;
    for (int i = 1; i <= JournalConsumer.MAX_CONFIRMATIONS; i++) {
      context.budget().renew();
      settle(i, i, SettleOutcome.DONE, 1, -1);
      asked++;
    }
    assertThat(link.taken()).isEmpty();
    settle(asked + 1, asked + 1, SettleOutcome.DONE, 1, -1);
    assertThat(settleRefused(ErrorCode.LIMIT_EXCEEDED)).contains("256 answers");
    journals.holds(false);
    journals.applyHeld();
    runAll();
    assertThat(link.taken()).filteredOn(Confirm.class::isInstance).hasSize(asked);
  }

  @Test
  void drainedComesWhenEverythingIsSettled() {
    publish(2);
    List<Object> unused = start(shared());
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    runAll();
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.UNSUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L));
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    problem(ErrorCode.UNKNOWN_SUBSCRIPTION, TypeCode.UNSUBSCRIBE, 1, "");
    settle(1, 2, SettleOutcome.DONE, 1, -1);
    assertThat(link.taken()).containsExactlyInAnyOrder(settled(2), new Drained(1L));
    assertThat(cursor().consumers()).isZero();
    assertThat(start(shared())).hasSize(1);
  }

  @Test
  void theEndOfTheConnectionReturnsTheEvents() {
    publish(2);
    List<Object> unused = start(shared());
    session.onClosed();
    runAll();
    assertThat(cursor().consumers()).isZero();
    assertThat(cursor().waiting()).isEqualTo(2);
    assertThat(journals.takeAttempt(1, "jobs")).isEqualTo(2);
  }

  @Test
  void aConsumerIsCountedByItsLimits() {
    long before = session.keptBytes();
    List<Object> unused = start(shared(1_000));
    assertThat(session.keptBytes() - before)
        .isGreaterThan(SessionConsumers.CONSUMER_BYTES + 64_000);
    handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L)));
    runAll();
    assertThat(session.keptBytes()).isEqualTo(before);
  }

  @Test
  void aBusThatEndsDoesNotCountTheDelivery() {
    publish(1);
    List<Object> unused = start(shared());
    session.onShutdown();
    session.onClosed();
    runAll();
    assertThat(journals.takeAttempt(1, "jobs")).isEqualTo(1);
  }
}
