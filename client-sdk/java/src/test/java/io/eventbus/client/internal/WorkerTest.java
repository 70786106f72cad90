package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.client.WorkDelivery;
import io.eventbus.client.WorkHandler;
import io.eventbus.client.Worker;
import io.eventbus.client.WorkerBuilder;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.TruncatedReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers, against a bus without a network and with a clock that stands. */
@Timeout(180)
class WorkerTest extends ClientFixture {
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();
  private final Map<String, WorkDelivery> deferred = new ConcurrentHashMap<>();
  private final StepExecutor executor = new StepExecutor();

  /** Executor that runs tasks when the test says so, from {@link #hold} on. */
  private static final class StepExecutor implements Executor {
    final ExecutorService threads = Executors.newCachedThreadPool();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private volatile boolean holds;

    @Override
    public void execute(Runnable task) {
      if (holds) {
        tasks.add(task);
      } else {
        threads.execute(task);
      }
    }

    void hold() {
      holds = true;
    }

    void letGo() {
      holds = false;
      step();
    }

    /** Runs tasks in the calling thread until there are none. */
    void step() {
      for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
        task.run();
      }
    }
  }

  /** Handler that blocks until the test lets it go on. */
  private final class Gate implements WorkHandler {
    final CountDownLatch release = new CountDownLatch(1);

    @Override
    public void onEvent(ReceivedEvent event, WorkDelivery delivery) throws Exception {
      handled.add(event.text());
      release.await();
    }
  }

  @AfterEach
  void endThreads() {
    executor.letGo();
    executor.threads.shutdown();
  }

  @Override
  protected ClientBuilder settings() {
    return super.settings()
        .executor(executor)
        .listener(
            new ConnectionListener() {
              @Override
              public void truncated(Truncated truncated) {
                told.add(
                    "truncated "
                        + truncated.from()
                        + ".."
                        + truncated.to()
                        + " "
                        + truncated.reason());
              }

              @Override
              public void handlerFailed(Worker worker, long position, Throwable failure) {
                told.add("failed " + position + " " + failure.getMessage());
              }

              @Override
              public void problem(EventBusException problem) {
                told.add("problem " + problem.getMessage());
              }
            });
  }

  private static WorkerBuilder billing(EventBusClient client) {
    return client.durable("billing").filter("a.>").journal("shop").from(Start.FIRST).shared();
  }

  /** Defers each event. */
  private void defer(ReceivedEvent event, WorkDelivery delivery) {
    delivery.defer();
    deferred.put(event.text(), delivery);
    handled.add(event.text());
  }

  private WorkDelivery deferred(String text) {
    return Objects.requireNonNull(deferred.get(text));
  }

  private void note(ReceivedEvent event, WorkDelivery delivery) {
    handled.add(event.position() + " " + event.text() + " " + delivery.attempt());
  }

  private Consume consume() throws Exception {
    return (Consume) bus.next(TypeCode.CONSUME).content();
  }

  private FakeBus.Arrival nextSettle() throws Exception {
    return bus.next(TypeCode.SETTLE);
  }

  private Settle settle() throws Exception {
    return (Settle) nextSettle().content();
  }

  /** Lets the time pass for which settlements are collected. */
  private void collected() {
    scheduler.advance(Duration.ofMillis(3));
  }

  private void assertNothingSettled() {
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.SETTLE);
  }

  private static Settle settlement(
      Consume of, long from, long upTo, SettleOutcome outcome, int attempt) {
    return new Settle(of.getId(), upTo, false, 0L, from, outcome, attempt, -1, "");
  }

  private void feed(Consume of, long from, int attempt, String... payloads) {
    feed(bus.connection(), of, from, attempt, payloads);
  }

  /** Feeds events at positions from the first one on. */
  private static void feed(
      FakeBus.Connection connection, Consume of, long from, int attempt, String... payloads) {
    connection.message(frame(of, from, attempt, payloads));
  }

  private static byte[] frame(Consume of, long from, int attempt, String... payloads) {
    long to = from + payloads.length - 1;
    return FakeBus.feed(
        of.getId(), from, to, to, attempt, FakeBus.stored("a", from, from, payloads));
  }

  private static void problem(
      FakeBus.Connection connection,
      Consume of,
      TypeCode type,
      io.eventbus.schema.ErrorCode code,
      String message) {
    connection.frame(
        TypeCode.PROBLEM, new Problem(code, message, false, of.getId(), type.code(), ""));
  }

  private void stored(Consume of, long position) {
    bus.connection()
        .frame(
            TypeCode.CONFIRM,
            new Confirm(TypeCode.SETTLE.code(), of.getId(), "", -1L, position, false, 0L));
  }

  private void reconnect() {
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
  }

  // ---- Settings

  @Test
  void theBusIsToldWhatTheWorkerWants() throws Exception {
    EventBusClient client = connect();
    Worker worker =
        billing(client)
            .maxUnsettled(50)
            .ackTimeout(Duration.ofMinutes(1))
            .maxAttempts(5)
            .handler(this::note);
    Consume consume = consume();
    assertThat(consume)
        .isEqualTo(
            new Consume(
                consume.getId(),
                "a.>",
                "shop",
                "billing",
                ConsumeMode.SHARED,
                ConsumeStart.FIRST,
                0L,
                1L << 20,
                0L,
                ConsumeStart.FIRST,
                0L,
                50,
                60_000,
                5));
    assertThat(get(worker.ready())).isSameAs(worker);
    assertThat(worker.name()).isEqualTo("billing");
    assertThat(worker.filter()).isEqualTo("a.>");
    client.durable("other").shared().handler(this::note);
    Consume defaults = consume();
    assertThat(defaults.getMaxEvents()).isEqualTo(256);
    assertThat(defaults.getAckTimeoutMillis()).isEqualTo(30_000);
    assertThat(defaults.getMaxAttempts()).isEqualTo(10);
  }

  @Test
  void theBusIsToldThatTheOrderOfKeysIsKept() throws Exception {
    EventBusClient client = connect();
    client.durable("billing").filter("a.>").keyShared().maxUnsettled(50).handler(this::note);
    Consume consume = consume();
    assertThat(consume.getMode()).isEqualTo(ConsumeMode.KEY_SHARED);
    assertThat(consume.getName()).isEqualTo("billing");
    assertThat(consume.getMaxEvents()).isEqualTo(50);
  }

  @Test
  void aWorkerThatKeepsTheOrderSettlesWhenNothingWaits() throws Exception {
    EventBusClient client = connect();
    client.durable("billing").filter("a.>").keyShared().handler(this::note);
    Consume consume = consume();
    executor.hold();
    feed(consume, 1, 1, "a", "b");
    feed(consume, 7, 1, "c");
    executor.step();
    assertThat(take(handled, 3)).containsExactly("1 a 1", "2 b 1", "7 c 1");
    assertThat(settle()).isEqualTo(settlement(consume, 1, 2, SettleOutcome.DONE, 1));
    assertThat(settle()).isEqualTo(settlement(consume, 7, 7, SettleOutcome.DONE, 1));
    assertNothingSettled();
  }

  @Test
  void settingsAreChecked() throws Exception {
    EventBusClient client = connect();
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> client.replay().shared())
        .withMessageContaining("expected: a name");
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> client.replay().keyShared());
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> client.durable("n").filter("a..b").shared().handler(this::note));
    WorkerBuilder builder = client.durable("n").shared();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.maxUnsettled(1025))
        .withMessage("maxUnsettled: 1025 (expected: 1..1024)");
    assertThatIllegalArgumentException().isThrownBy(() -> builder.maxAttempts(0));
    assertThatIllegalArgumentException().isThrownBy(() -> builder.concurrency(1001));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.ackTimeout(Duration.ofMillis(999)))
        .withMessage("ackTimeout: PT0.999S (expected: PT1S..PT12H)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.ackTimeout(Duration.ofHours(12).plusMillis(1)));
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.CONSUME);
  }

  // ---- Settling

  @Test
  void anEventIsDoneWhenTheHandlerReturns() throws Exception {
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::note);
    Consume consume = consume();
    feed(consume, 7, 2, "x", "y");
    assertThat(take(handled, 2)).containsExactly("7 x 2", "8 y 2");
    Set<Long> done = new HashSet<>();
    while (done.size() < 2) {
      Settle settle = settle();
      assertThat(settle.getOutcome()).isEqualTo(SettleOutcome.DONE);
      assertThat(settle.getAttempt()).isEqualTo(2);
      for (long position = settle.getFrom(); position <= settle.getUpTo(); position++) {
        assertThat(done.add(position)).isTrue();
      }
    }
    assertThat(done).containsExactlyInAnyOrder(7L, 8L);
    until(() -> worker.counters().equals(new Worker.Counters(2, 2, 0, 0, 0, 0, 0)));
    assertThat(client.counters().received()).isEqualTo(2);
  }

  @Test
  void neighboursWithOneOutcomeAreSettledTogether() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    Consume consume = consume();
    executor.hold();
    feed(consume, 1, 1, "a", "b", "c", "d");
    feed(consume, 5, 1, "e");
    executor.step();
    for (String text : List.of("b", "e", "a", "d")) {
      deferred(text).done();
    }
    deferred("c").retry();
    assertNothingSettled();
    collected();
    assertThat(settle()).isEqualTo(settlement(consume, 1, 2, SettleOutcome.DONE, 1));
    assertThat(settle()).isEqualTo(settlement(consume, 3, 3, SettleOutcome.RETRY, 1));
    assertThat(settle()).isEqualTo(settlement(consume, 4, 4, SettleOutcome.DONE, 1));
    assertThat(settle())
        .as("of another Feed")
        .isEqualTo(settlement(consume, 5, 5, SettleOutcome.DONE, 1));
    assertNothingSettled();
  }

  @Test
  void holesBetweenTheEventsOfAFeedAreSettledWithThem() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    Consume consume = consume();
    executor.hold();
    bus.connection()
        .message(
            FakeBus.feed(
                consume.getId(),
                3,
                9,
                12,
                1,
                FakeBus.stored("a", 3, 1, "x"),
                FakeBus.stored("b", 8, 1, "y", "z")));
    executor.step();
    deferred.values().forEach(WorkDelivery::done);
    collected();
    assertThat(settle()).isEqualTo(settlement(consume, 3, 9, SettleOutcome.DONE, 1));
    assertNothingSettled();
  }

  private List<Settle> settlements() {
    List<Settle> all = new ArrayList<>();
    for (FakeBus.Arrival arrival : bus.arrivals) {
      if (arrival.type() == TypeCode.SETTLE) {
        all.add((Settle) arrival.content());
      }
    }
    bus.arrivals.removeIf(arrival -> arrival.type() == TypeCode.SETTLE);
    return all;
  }

  @Test
  void anExceptionHasTheEventComeAgain() throws Exception {
    EventBusClient client = connect();
    String long257 = "x".repeat(255) + "é";
    Worker worker =
        billing(client)
            .handler(
                (event, delivery) -> {
                  if (event.text().equals("a")) {
                    throw new IllegalStateException(long257);
                  }
                  throw new AssertionError();
                });
    Consume consume = consume();
    feed(consume, 4, 3, "a");
    Settle settle = settle();
    assertThat(settle.getOutcome()).isEqualTo(SettleOutcome.RETRY);
    assertThat(settle.getFrom()).isEqualTo(4);
    assertThat(settle.getAttempt()).isEqualTo(3);
    assertThat(settle.getDelayMillis()).isEqualTo(-1);
    assertThat(settle.getReason()).as("cut at a character").isEqualTo("x".repeat(255));
    assertThat(take(told)).isEqualTo("failed 4 " + long257);
    feed(consume, 5, 1, "b");
    assertThat(settle().getReason()).isEqualTo("java.lang.AssertionError");
    assertThat(take(told)).isEqualTo("failed 5 null");
    assertThat(worker.counters().failed()).isEqualTo(2);
    assertThat(worker.counters().retried()).isEqualTo(2);
    assertThat(client.counters().handlerFailures()).isEqualTo(2);
  }

  @Test
  void theFirstSettlementCounts() throws Exception {
    EventBusClient client = connect();
    Worker worker =
        billing(client)
            .handler(
                (event, delivery) -> {
                  switch (event.text()) {
                    case "a" -> delivery.reject("bad");
                    case "b" -> delivery.retry(Duration.ofMillis(1500));
                    case "c" -> delivery.release();
                    case "d" -> delivery.retry();
                    default -> delivery.done();
                  }
                  delivery.done();
                  delivery.reject("again");
                  delivery.extend();
                  if (event.text().equals("e")) {
                    throw new IllegalStateException("too late");
                  }
                });
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b", "c", "d", "e");
    List<Settle> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(settle());
    }
    assertThat(all)
        .containsExactly(
            new Settle(consume.getId(), 1L, false, 0L, 1L, SettleOutcome.REJECT, 1, -1, "bad"),
            new Settle(consume.getId(), 2L, false, 0L, 2L, SettleOutcome.RETRY, 1, 1500, ""),
            settlement(consume, 3, 3, SettleOutcome.RELEASE, 1),
            settlement(consume, 4, 4, SettleOutcome.RETRY, 1),
            settlement(consume, 5, 5, SettleOutcome.DONE, 1));
    assertThat(take(told)).isEqualTo("failed 5 too late");
    collected();
    assertNothingSettled();
    until(() -> worker.counters().equals(new Worker.Counters(5, 1, 2, 1, 0, 1, 0)));
  }

  @Test
  void delaysAreChecked() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    feed(consume(), 1, 1, "a");
    take(handled);
    WorkDelivery delivery = deferred("a");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> delivery.retry(Duration.ofDays(7).plusNanos(1)))
        .withMessage("delay: PT168H0.000000001S (expected: PT0S..PT168H)");
    assertThatIllegalArgumentException().isThrownBy(() -> delivery.retry(Duration.ofNanos(-1)));
    delivery.retry(Duration.ofDays(7));
    collected();
    assertThat(settle().getDelayMillis()).isEqualTo(604_800_000);
  }

  @Test
  void settlementsAreSentInMessagesThatEachBusAccepts() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    Consume consume = consume();
    executor.hold();
    String[] payloads = IntStream.range(0, 100).mapToObj(Integer::toString).toArray(String[]::new);
    feed(consume, 1, 1, payloads);
    executor.step();
    for (String text : payloads) {
      deferred(text).reject(text + " " + "é".repeat(200));
    }
    collected();
    List<FakeBus.Arrival> all = new ArrayList<>();
    while (all.size() < 100) {
      all.add(nextSettle());
    }
    Map<Integer, Integer> bytes =
        all.stream()
            .collect(
                Collectors.groupingBy(
                    FakeBus.Arrival::message,
                    Collectors.summingInt(
                        arrival ->
                            ((Settle) arrival.content())
                                .getReason()
                                .getBytes(StandardCharsets.UTF_8)
                                .length)));
    assertThat(bytes.values()).allSatisfy(sum -> assertThat(sum).isLessThan(8 * 1024));
    assertThat(bytes).hasSizeBetween(4, 10);
  }

  // ---- Confirmed settlements

  private CompletableFuture<Void> confirmed(String text) {
    return deferred(text).doneConfirmed().toCompletableFuture();
  }

  @Test
  void aConfirmedSettlementIsSentAtOnceAndAnswered() throws Exception {
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::defer);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b");
    take(handled, 2);
    CompletableFuture<Void> a = confirmed("a");
    assertThat(settle())
        .isEqualTo(new Settle(consume.getId(), 1L, true, 0L, 1L, SettleOutcome.DONE, 1, -1, ""));
    assertThat(a).isNotDone();
    assertThat(confirmed("a")).as("asked again").isSameAs(a);
    stored(consume, 2);
    assertThat(a).isNotDone();
    stored(consume, 1);
    get(a);
    deferred("b").done();
    assertThat(failure(confirmed("b")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("position 2");
    collected();
    assertThat(settle()).isEqualTo(settlement(consume, 2, 2, SettleOutcome.DONE, 1));
    assertThat(worker.counters().done()).isEqualTo(2);
    scheduler.advance(Duration.ofSeconds(20));
    assertThat(told).isEmpty();
  }

  @Test
  void aRefusedSettlementIsToldApartFromOthers() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b", "c", "d");
    take(handled, 4);
    CompletableFuture<Void> a = confirmed("a");
    CompletableFuture<Void> b = confirmed("b");
    CompletableFuture<Void> c = confirmed("c");
    for (int i = 0; i < 3; i++) {
      settle();
    }
    problem(
        bus.connection(),
        consume,
        TypeCode.SETTLE,
        io.eventbus.schema.ErrorCode.UNKNOWN_SUBSCRIPTION,
        "not here");
    CompletableFuture<Void> d = confirmed("d");
    assertNothingSettled();
    stored(consume, 1);
    stored(consume, 3);
    get(a);
    get(c);
    assertThat(failure(b))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.UNKNOWN_SUBSCRIPTION));
    assertThat(settle().getUpTo()).as("sent when it is clear which").isEqualTo(4);
    stored(consume, 4);
    get(d);
    assertThat(told).isEmpty();
  }

  @Test
  void aBusAnswersALimitedNumberOfSettlementsAtATime() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    Consume consume = consume();
    String[] payloads = IntStream.range(0, 130).mapToObj(Integer::toString).toArray(String[]::new);
    feed(consume, 1, 1, payloads);
    take(handled, 130);
    CompletableFuture<?>[] all = new CompletableFuture<?>[130];
    for (int i = 0; i < 130; i++) {
      all[i] = confirmed(payloads[i]);
    }
    for (int position = 1; position <= 128; position++) {
      assertThat(settle().getUpTo()).isEqualTo(position);
    }
    assertNothingSettled();
    stored(consume, 60);
    assertThat(settle().getUpTo()).isEqualTo(129);
    assertNothingSettled();
    for (int position = 1; position <= 130; position++) {
      stored(consume, position);
    }
    get(CompletableFuture.allOf(all));
  }

  @Test
  void anAnswerThatDoesNotComeIsNotWaitedForForEver() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::defer);
    feed(consume(), 1, 1, "a");
    take(handled);
    CompletableFuture<Void> a = confirmed("a");
    settle();
    scheduler.advance(Duration.ofMillis(9_999));
    assertThat(a).isNotDone();
    scheduler.advance(Duration.ofMillis(1));
    assertThat(failure(a)).isInstanceOf(EventBusException.TimedOut.class);
  }

  // ---- Many at once

  @Test
  void asManyHandlersRunAsTheWorkerHasConcurrency() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).concurrency(3).handler(gate);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b", "c", "d", "e");
    assertThat(take(handled, 3)).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(worker.counters().received()).isEqualTo(3);
    gate.release.countDown();
    assertThat(take(handled, 2)).containsExactlyInAnyOrder("d", "e");
    until(() -> worker.counters().done() == 5);
  }

  @Test
  void whatIsNotSettledTakesItsRoom() throws Exception {
    EventBusClient client = connect();
    Worker worker = client.durable("billing").bufferBytes(1024).shared().handler(this::defer);
    Consume consume = consume();
    assertThat(consume.getLimit()).isEqualTo(1024);
    byte[] first = frame(consume, 1, 1, "a", "b".repeat(600));
    bus.connection().message(first);
    take(handled, 2);
    assertThat(worker.counters().bufferedBytes()).isEqualTo(first.length);
    deferred("b".repeat(600)).done();
    assertThat(worker.counters().bufferedBytes()).isEqualTo(first.length);
    assertThat(bus.credits).noneMatch(arrival -> ((Credit) arrival.content()).getConsumer() != 0);
    deferred("a").done();
    until(() -> worker.counters().bufferedBytes() == 0);
    Credit credit = (Credit) take(bus.credits).content();
    while (credit.getConsumer() != consume.getId()) {
      credit = (Credit) take(bus.credits).content();
    }
    assertThat(credit)
        .isEqualTo(new Credit(0L, first.length + 1024L, (long) first.length, consume.getId()));
  }

  // ---- Time

  @Test
  void whatWaitsForLongGoesBack() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).ackTimeout(Duration.ofSeconds(8)).handler(gate);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b", "c");
    feed(consume, 4, 2, "d");
    take(handled);
    scheduler.advance(Duration.ofMillis(3_900));
    feed(consume, 5, 1, "e");
    assertNothingSettled();
    scheduler.advance(Duration.ofMillis(100));
    assertThat(settle()).isEqualTo(settlement(consume, 2, 3, SettleOutcome.RELEASE, 1));
    assertThat(settle()).isEqualTo(settlement(consume, 4, 4, SettleOutcome.RELEASE, 2));
    assertNothingSettled();
    gate.release.countDown();
    assertThat(take(handled)).isEqualTo("e");
    until(() -> worker.counters().done() == 2);
    assertThat(worker.counters().received()).isEqualTo(2);
  }

  @Test
  void theHandlerGetsTheWholeAckTimeout() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).ackTimeout(Duration.ofSeconds(8)).handler(gate);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b");
    take(handled);
    scheduler.advance(Duration.ofMillis(1_100));
    gate.release.countDown();
    assertThat(take(handled)).isEqualTo("b");
    until(() -> worker.counters().done() == 2);
    assertThat(settlements()).contains(settlement(consume, 2, 2, SettleOutcome.EXTEND, 1));
  }

  @Test
  void anExtensionIsSentIfItMatters() throws Exception {
    EventBusClient client = connect();
    billing(client).ackTimeout(Duration.ofSeconds(8)).handler(this::defer);
    Consume consume = consume();
    feed(consume, 1, 1, "a");
    take(handled);
    WorkDelivery delivery = deferred("a");
    scheduler.advance(Duration.ofMillis(999));
    delivery.extend();
    scheduler.advance(Duration.ofMillis(1));
    assertNothingSettled();
    delivery.extend();
    delivery.extend();
    collected();
    assertThat(settle()).isEqualTo(settlement(consume, 1, 1, SettleOutcome.EXTEND, 1));
    assertNothingSettled();
    delivery.done();
    scheduler.advance(Duration.ofSeconds(2));
    delivery.extend();
    collected();
    assertThat(settle().getOutcome()).isEqualTo(SettleOutcome.DONE);
    assertNothingSettled();
  }

  @Test
  void whatIsNeverSettledDoesNotTakeRoomForEver() throws Exception {
    EventBusClient client = connect();
    Worker worker = billing(client).ackTimeout(Duration.ofSeconds(8)).handler(this::defer);
    Consume consume = consume();
    feed(consume, 1, 1, "a");
    take(handled);
    scheduler.advance(Duration.ofSeconds(10));
    deferred("a").extend();
    scheduler.advance(Duration.ofSeconds(15));
    assertThat(worker.counters().bufferedBytes()).isPositive();
    scheduler.advance(Duration.ofSeconds(3));
    assertThat(worker.counters().bufferedBytes()).isZero();
    settlements();
    deferred("a").done();
    collected();
    assertThat(settle()).isEqualTo(settlement(consume, 1, 1, SettleOutcome.DONE, 1));
  }

  // ---- Lost connections

  @Test
  void whatALostConnectionHasBroughtIsVoid() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).handler(gate);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b");
    feed(consume, 3, 1, "c");
    take(handled);
    reconnect();
    Consume again = consume();
    assertThat(again.getId()).isEqualTo(consume.getId());
    assertThat(again.getMode()).isEqualTo(ConsumeMode.SHARED);
    gate.release.countDown();
    feed(again, 2, 2, "b again");
    assertThat(take(handled)).isEqualTo("b again");
    until(() -> worker.counters().done() == 1);
    assertThat(settle()).isEqualTo(settlement(consume, 2, 2, SettleOutcome.DONE, 2));
    assertNothingSettled();
    assertThat(worker.counters().late()).isEqualTo(1);
    until(() -> worker.counters().bufferedBytes() == 0);
    assertThat(handled).isEmpty();
  }

  @Test
  void whatWasNotSentIsLateToo() throws Exception {
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::defer);
    Consume consume = consume();
    feed(consume, 1, 1, "a", "b", "c");
    take(handled, 3);
    until(() -> worker.counters().received() == 3);
    CompletableFuture<Void> a = confirmed("a");
    settle();
    bus.connection().end(1006, "lost");
    assertThat(failure(a)).isInstanceOf(EventBusException.ConnectionLost.class);
    assertThat(failure(confirmed("b"))).isInstanceOf(EventBusException.ConnectionLost.class);
    deferred("c").retry();
    assertThat(worker.counters().late()).isEqualTo(2);
    scheduler.advance(Duration.ofSeconds(1));
    consume();
    collected();
    assertNothingSettled();
  }

  @Test
  void aWorkerThatTheBusHasEndedAsksAgain() throws Exception {
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::defer);
    Consume consume = consume();
    get(worker.ready());
    feed(consume, 1, 1, "a");
    take(handled);
    problem(
        bus.connection(),
        consume,
        TypeCode.CONSUME,
        io.eventbus.schema.ErrorCode.REPLACED,
        "stale");
    assertThat(take(told)).isEqualTo("problem stale");
    deferred("a").done();
    scheduler.advance(Duration.ofSeconds(1));
    consume();
    feed(consume, 1, 2, "a again");
    assertThat(take(handled)).isEqualTo("a again");
    deferred("a again").done();
    collected();
    assertThat(settle()).isEqualTo(settlement(consume, 1, 1, SettleOutcome.DONE, 2));
    assertThat(worker.counters().late()).isEqualTo(1);
  }

  @Test
  void aFeedWithoutAnAcceptedConsumeDoesNotCount() throws Exception {
    bus.confirmsConsumers = false;
    EventBusClient client = connect();
    billing(client).handler(this::note);
    Consume consume = consume();
    feed(consume, 1, 1, "a");
    bus.connection()
        .frame(
            TypeCode.CONFIRM,
            new Confirm(TypeCode.CONSUME.code(), consume.getId(), "shop", -1L, 0L, false, 79L));
    feed(consume, 2, 1, "b");
    assertThat(take(handled)).isEqualTo("2 b 1");
    assertThat(settle().getCreation()).isEqualTo(79);
  }

  @Test
  void aJournalThatWasCreatedAgainIsTold() throws Exception {
    bus.creation = 79;
    EventBusClient client = connect();
    billing(client).handler(this::note);
    Consume consume = consume();
    feed(consume, 5, 1, "a");
    settle();
    bus.creation = 80;
    reconnect();
    Consume again = consume();
    assertThat(again.getCreation()).isEqualTo(79);
    assertThat(again.getOtherStart()).isEqualTo(ConsumeStart.FIRST);
    assertThat(take(told)).isEqualTo("truncated 6..6 DELETED");
    feed(again, 1, 1, "x");
    assertThat(settle().getCreation()).isEqualTo(80);
  }

  @Test
  void whatDoesNotComeIsToldToTheListener() throws Exception {
    EventBusClient client = connect();
    billing(client).handler(this::note);
    Consume consume = consume();
    bus.connection()
        .frame(
            TypeCode.TRUNCATED,
            new io.eventbus.schema.Truncated(consume.getId(), 3L, 9L, TruncatedReason.PURGED));
    assertThat(take(told)).isEqualTo("truncated 3..9 PURGED");
    assertNothingSettled();
  }

  // ---- Moves

  @Test
  void inAMoveEachBusIsToldWhatItHasGiven() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).concurrency(2).handler(gate);
    Consume consume = consume();
    get(worker.ready());
    feed(consume, 1, 1, "a", "b", "c", "d");
    take(handled, 2);
    bus.answersUnsubscribe = false;
    bus.connection(1).askToMove("tok", "ws://two/bus");
    FakeBus.Arrival other = bus.next(TypeCode.CONSUME);
    assertThat(other.connection()).isEqualTo(2);
    FakeBus.Arrival released = nextSettle();
    assertThat(released.connection()).isEqualTo(1);
    assertThat(released.content()).isEqualTo(settlement(consume, 3, 4, SettleOutcome.RELEASE, 1));
    assertThat(bus.next(TypeCode.UNSUBSCRIBE).connection()).isEqualTo(1);
    feed(bus.connection(1), consume, 5, 3, "e");
    FakeBus.Arrival late = nextSettle();
    assertThat(late.connection()).isEqualTo(1);
    assertThat(late.content()).isEqualTo(settlement(consume, 5, 5, SettleOutcome.RELEASE, 3));
    feed(bus.connection(2), consume, 6, 1, "f");
    gate.release.countDown();
    assertThat(take(handled)).isEqualTo("f");
    Map<Integer, Set<Long>> settled = new ConcurrentHashMap<>();
    while (settled.values().stream().mapToInt(Set::size).sum() < 3) {
      FakeBus.Arrival arrival = nextSettle();
      Settle settle = (Settle) arrival.content();
      Set<Long> positions =
          settled.computeIfAbsent(arrival.connection(), number -> new HashSet<>());
      for (long p = settle.getFrom(); p <= settle.getUpTo(); p++) {
        positions.add(p);
      }
    }
    assertThat(settled).isEqualTo(Map.of(1, Set.of(1L, 2L), 2, Set.of(6L)));
    bus.connection(1).frame(TypeCode.DRAINED, new Drained(consume.getId()));
    until(() -> bus.connection(1).isOver());
    feed(bus.connection(2), consume, 7, 1, "g");
    assertThat(take(handled)).isEqualTo("g");
    assertThat(worker.counters().late()).isZero();
  }

  @Test
  void aBusThatTheClientDoesNotMoveToGetsItsEventsBack() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).handler(gate);
    Consume consume = consume();
    get(worker.ready());
    feed(consume, 1, 1, "a");
    take(handled);
    bus.answersBarriers = false;
    bus.connection(1).askToMove("tok", "ws://two/bus");
    assertThat(bus.next(TypeCode.CONSUME).connection()).isEqualTo(2);
    feed(bus.connection(2), consume, 2, 1, "b");
    assertNothingSettled();
    scheduler.advance(Duration.ofSeconds(8));
    FakeBus.Arrival released = nextSettle();
    assertThat(released.connection()).isEqualTo(2);
    assertThat(released.content()).isEqualTo(settlement(consume, 2, 2, SettleOutcome.RELEASE, 1));
    assertThat(bus.next(TypeCode.UNSUBSCRIBE).connection()).isEqualTo(2);
    gate.release.countDown();
    assertThat(nextSettle().connection()).isEqualTo(1);
    until(() -> bus.connection(2).isOver());
    feed(bus.connection(1), consume, 3, 1, "c");
    assertThat(take(handled)).isEqualTo("c");
  }

  // ---- The end

  @Test
  void unsubscribingGivesBackWhatWaitsAndFinishesTheRest() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = client.durable("billing").bufferBytes(1024).shared().handler(gate);
    Consume consume = consume();
    bus.answersUnsubscribe = false;
    feed(consume, 1, 1, "a", "b".repeat(600));
    take(handled);
    CompletableFuture<Void> end = worker.unsubscribe().toCompletableFuture();
    assertThat(worker.unsubscribe()).isSameAs(end);
    assertThat(settle()).isEqualTo(settlement(consume, 2, 2, SettleOutcome.RELEASE, 1));
    assertThat(bus.next(TypeCode.UNSUBSCRIBE).content()).isEqualTo(consume.getId());
    feed(consume, 3, 1, "c");
    assertThat(settle()).isEqualTo(settlement(consume, 3, 3, SettleOutcome.RELEASE, 1));
    gate.release.countDown();
    assertThat(settle()).isEqualTo(settlement(consume, 1, 1, SettleOutcome.DONE, 1));
    assertThat(end).isNotDone();
    bus.connection().frame(TypeCode.DRAINED, new Drained(consume.getId()));
    get(end);
    assertThat(handled).isEmpty();
    assertThat(bus.credits).noneMatch(arrival -> ((Credit) arrival.content()).getConsumer() != 0);
    feed(consume, 4, 1, "late");
    assertNothingSettled();
    assertThat(worker.counters().bufferedBytes()).isZero();
  }

  @Test
  void whatComesAfterTheEndWasAskedForGoesBack() throws Exception {
    bus.confirmsConsumers = false;
    bus.answersUnsubscribe = false;
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::note);
    Consume consume = consume();
    worker.unsubscribe();
    bus.connection()
        .frame(
            TypeCode.CONFIRM,
            new Confirm(TypeCode.CONSUME.code(), consume.getId(), "shop", -1L, 0L, false, 0L));
    feed(consume, 1, 1, "a");
    assertThat(settle()).isEqualTo(settlement(consume, 1, 1, SettleOutcome.RELEASE, 1));
    assertThat(handled).isEmpty();
  }

  @Test
  void theEndWaitsForTheHandlerAlsoWithoutAConnection() throws Exception {
    EventBusClient client = connect();
    Gate gate = new Gate();
    Worker worker = billing(client).handler(gate);
    Consume consume = consume();
    bus.answersUnsubscribe = false;
    feed(consume, 1, 1, "a");
    take(handled);
    CompletableFuture<Void> end = worker.unsubscribe().toCompletableFuture();
    executor.hold();
    bus.connection().end(1006, "lost");
    executor.step();
    assertThat(end).isNotDone();
    executor.letGo();
    gate.release.countDown();
    get(end);
    assertThat(worker.counters().late()).isEqualTo(1);
    scheduler.advance(Duration.ofSeconds(1));
    get(client.publish("p", Event.of("fence")));
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.CONSUME);
  }

  @Test
  void closingTheClientSettlesWhatIsHandled() throws Exception {
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::defer);
    Consume consume = consume();
    executor.hold();
    feed(consume, 1, 1, "a");
    executor.step();
    executor.letGo();
    deferred("a").done();
    assertThat(worker.counters().done()).isZero();
    assertThat(client.close(Duration.ofSeconds(30))).isTrue();
    assertThat(settle()).isEqualTo(settlement(consume, 1, 1, SettleOutcome.DONE, 1));
    assertThat(bus.next(TypeCode.UNSUBSCRIBE).content()).isEqualTo(consume.getId());
  }

  @Test
  void aHandlerMayCloseItsClient() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    billing(client)
        .handler((event, delivery) -> closed.complete(client.close(Duration.ofSeconds(30))));
    Consume consume = consume();
    bus.answersUnsubscribe = false;
    feed(consume, 1, 1, "a");
    get(closed);
  }

  @Test
  void aRefusedWorkerHasEnded() throws Exception {
    bus.confirmsConsumers = false;
    EventBusClient client = connect();
    Worker worker = billing(client).handler(this::note);
    Consume consume = consume();
    CompletableFuture<Worker> ready = worker.ready().toCompletableFuture();
    problem(
        bus.connection(),
        consume,
        TypeCode.CONSUME,
        io.eventbus.schema.ErrorCode.UNSUPPORTED,
        "exclusive");
    assertThat(failure(ready)).isInstanceOf(EventBusException.Refused.class);
    get(worker.unsubscribe());
  }
}
