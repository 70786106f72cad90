package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Settle;
import io.eventbus.schema.TruncatedReason;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Consumers of durable topics, against a bus without a network and with a clock that stands. */
@Timeout(180)
class DurableTest extends ClientFixture {
  private static final int WINDOW = 1 << 20;

  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

  /** Notes what it gets, and fails where the test says. */
  private final class Handler implements DurableHandler {
    volatile String failsAt = "";
    volatile CountDownLatch release = new CountDownLatch(0);
    final AtomicInteger begun = new AtomicInteger();

    @Override
    public void onEvent(ReceivedEvent event) throws Exception {
      begun.incrementAndGet();
      release.await();
      if (event.text().equals(failsAt)) {
        handled.add("failed " + event.text());
        throw new IllegalStateException(event.text());
      }
      handled.add(event.position() + " " + event.text());
    }

    @Override
    public void onTruncated(Truncated truncated) {
      handled.add(
          "truncated " + truncated.from() + ".." + truncated.to() + " " + truncated.reason());
    }
  }

  private final Handler handler = new Handler();

  @Override
  protected ClientBuilder settings() {
    return super.settings()
        .listener(
            new ConnectionListener() {
              @Override
              public void truncated(Truncated truncated) {
                told.add("truncated " + truncated.from() + ".." + truncated.to());
              }

              @Override
              public void handlerFailed(
                  DurableSubscription subscription, long position, Throwable failure) {
                told.add("failed " + position);
              }

              @Override
              public void problem(EventBusException problem) {
                told.add("problem " + problem.getMessage());
              }
            });
  }

  private Consume consume() throws Exception {
    return (Consume) bus.next(TypeCode.CONSUME).content();
  }

  private Settle settle() throws Exception {
    return (Settle) bus.next(TypeCode.SETTLE).content();
  }

  /**
   * Lets time pass until the client settles, so slowly that a busy machine sends meanwhile: else
   * the client would take its connection for lost.
   */
  private Settle nextSettle() throws Exception {
    until(
        () -> {
          scheduler.advance(Duration.ofMillis(100));
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
          return bus.arrivals.stream().anyMatch(each -> each.type() == TypeCode.SETTLE);
        });
    return settle();
  }

  private Credit credit(long consumer) throws Exception {
    while (true) {
      Credit credit = (Credit) take(bus.credits).content();
      if (credit.getConsumer() == consumer) {
        return credit;
      }
    }
  }

  private void reconnect() {
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
  }

  /** Asserts that the bus has got no more Consume, once it has all that was sent. */
  private void assertNotAskedAgain(EventBusClient client) throws Exception {
    get(client.publish("p", Event.of("fence")));
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.CONSUME);
  }

  private static byte[] eventOf(Consume of, long position, int payloadBytes) {
    return FakeBus.feed(
        of.getId(), position, position, position, stored(position, "x".repeat(payloadBytes)));
  }

  private void feed(Consume of, long from, long to, byte[]... frames) {
    bus.connection().message(FakeBus.feed(of.getId(), from, to, to, frames));
  }

  private static byte[] stored(long position, String... payloads) {
    return FakeBus.stored("a", position, position, payloads);
  }

  private static Confirm confirmed(Consume of) {
    return new Confirm(TypeCode.CONSUME.code(), of.getId(), "shop", -1L, 0L, false, 0L);
  }

  private void truncated(Consume of, long from, long to, TruncatedReason reason) {
    bus.connection()
        .frame(TypeCode.TRUNCATED, new io.eventbus.schema.Truncated(of.getId(), from, to, reason));
  }

  private void problem(Consume of, io.eventbus.schema.ErrorCode code, boolean retryable) {
    problem(bus.connection(), of, code, retryable);
  }

  private static void problem(
      FakeBus.Connection from, Consume of, io.eventbus.schema.ErrorCode code, boolean retryable) {
    from.frame(
        TypeCode.PROBLEM,
        new Problem(code, "no", retryable, of.getId(), TypeCode.CONSUME.code(), ""));
  }

  // ---- Consuming

  @Test
  void aDurableSubscriptionIsConsumedAndSettled() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing =
        client.durable("billing").filter("a.>").journal("shop").from(Start.FIRST).handler(handler);
    Consume consume = consume();
    assertThat(consume)
        .isEqualTo(
            new Consume(
                consume.getId(),
                "a.>",
                "shop",
                "billing",
                ConsumeMode.EXCLUSIVE,
                ConsumeStart.FIRST,
                0L,
                (long) WINDOW,
                0L,
                ConsumeStart.FIRST,
                0L,
                0,
                0,
                0));
    assertThat(get(billing.ready())).isSameAs(billing);
    feed(consume, 1, 0);
    feed(consume, 1, 5, stored(1, "x", "y"), FakeBus.stored("b", 4, 1, "z"));
    assertThat(take(handled, 3)).containsExactly("1 x", "2 y", "4 z");
    // The first settlement is sent at once, the next one after a moment: with what it covers.
    assertThat(settle().getUpTo()).isEqualTo(1);
    until(() -> billing.position() == 5);
    assertThat(nextSettle()).isEqualTo(DurableFrames.settleUpTo(consume.getId(), 5L, false, 0L));
    assertThat(billing.lag()).isZero();
    assertThat(billing.counters().received()).isEqualTo(3);
    assertThat(client.counters().received()).isEqualTo(3);
  }

  @Test
  void positionsWithoutEventsAreSettledToo() throws Exception {
    EventBusClient client = connect();
    client.durable("billing").handler(handler);
    Consume consume = consume();
    feed(consume, 100, 99);
    feed(consume, 100, 220);
    assertThat(settle().getUpTo()).isEqualTo(220);
  }

  @Test
  void whereAConsumerBeginsNothingIsSettled() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    bus.connection().message(FakeBus.feed(consume.getId(), 100, 99, 120));
    until(() -> billing.position() == 99);
    assertThat(billing.lag()).isEqualTo(21);
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.SETTLE);
  }

  @Test
  void aReplaySettlesNothing() throws Exception {
    EventBusClient client = connect();
    client.replay().from(Start.position(7)).handler(handler);
    Consume consume = consume();
    assertThat(consume.getName()).isEmpty();
    assertThat(consume.getFilter()).isEqualTo(">");
    assertThat(consume.getStart()).isEqualTo(ConsumeStart.POSITION);
    assertThat(consume.getFrom()).isEqualTo(7);
    feed(consume, 7, 8, stored(7, "x", "y"));
    assertThat(take(handled, 2)).containsExactly("7 x", "8 y");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.SETTLE);
  }

  @Test
  void startsAreSentAsTheyAre() throws Exception {
    EventBusClient client = connect();
    client.latest("prices.>", handler);
    Consume latest = consume();
    assertThat(latest.getStart()).isEqualTo(ConsumeStart.LATEST_VALUES);
    assertThat(latest.getFilter()).isEqualTo("prices.>");
    client.replay().from(Start.time(Instant.ofEpochSecond(3, 4_000))).handler(handler);
    Consume time = consume();
    assertThat(time.getStart()).isEqualTo(ConsumeStart.TIME);
    assertThat(time.getFrom()).isEqualTo(3_000_004);
    client.replay().handler(handler);
    assertThat(consume().getStart()).isEqualTo(ConsumeStart.NEW);
  }

  @Test
  void otherFramesInAFeedAreSkipped() throws Exception {
    EventBusClient client = connect();
    client.replay().handler(handler);
    Consume consume = consume();
    byte[] unknown = {126, 2, 7};
    feed(consume, 1, 3, stored(1, "x"), unknown, stored(3, "y"));
    assertThat(take(handled, 2)).containsExactly("1 x", "3 y");
  }

  @Test
  void aMalformedFeedEndsTheConnection() throws Exception {
    EventBusClient client = connect();
    client.replay().handler(handler);
    Consume consume = consume();
    FakeBus.Connection first = bus.connection();
    feed(consume, 1, 3, new byte[] {8, 2, 126});
    assertThat(first.closedWith).isEqualTo(1007);
    assertThat(handled).isEmpty();
  }

  @Test
  void whatDoesNotComeIsToldInOrderAndToTheListener() throws Exception {
    EventBusClient client = connect();
    client.durable("billing").from(Start.FIRST).handler(handler);
    Consume consume = consume();
    truncated(consume, 1, 9, TruncatedReason.RETENTION);
    feed(consume, 10, 10, stored(10, "x"));
    assertThat(take(handled, 2)).containsExactly("truncated 1..9 RETENTION", "10 x");
    assertThat(take(told)).isEqualTo("truncated 1..9");
    assertThat(settle().getUpTo()).isEqualTo(9);
  }

  @Test
  void namesAndFiltersAreChecked() throws Exception {
    EventBusClient client = connect();
    Class<EventBusException.IllegalTopic> illegal = EventBusException.IllegalTopic.class;
    assertThatExceptionOfType(illegal).isThrownBy(() -> client.durable(""));
    assertThatExceptionOfType(illegal).isThrownBy(() -> client.durable("a..b").handler(handler));
    assertThatExceptionOfType(illegal)
        .isThrownBy(() -> client.durable("x".repeat(129)).handler(handler));
    assertThatExceptionOfType(illegal)
        .isThrownBy(() -> client.replay().filter("a..b").handler(handler));
    assertThatExceptionOfType(illegal)
        .isThrownBy(() -> client.replay().journal("*").handler(handler));
    assertThatIllegalArgumentException().isThrownBy(() -> client.replay().bufferBytes(1));
    assertThatIllegalArgumentException().isThrownBy(() -> Start.position(-1));
  }

  // ---- Credit

  @Test
  void creditIsGrantedForWhatIsHandled() throws Exception {
    EventBusClient client = connect();
    CountDownLatch release = new CountDownLatch(1);
    DurableSubscription slow =
        client
            .replay()
            .bufferBytes(1024)
            .handler(
                event -> {
                  release.await();
                  handled.add(event.position() + "");
                });
    Consume consume = consume();
    assertThat(consume.getLimit()).isEqualTo(1024);
    byte[] first = FakeBus.feed(consume.getId(), 1, 1, 1, stored(1, "x".repeat(700)));
    byte[] second = FakeBus.feed(consume.getId(), 2, 2, 2, stored(2, "y".repeat(700)));
    bus.connection().message(first);
    bus.connection().message(second);
    assertThat(bus.credits)
        .as("nothing is handled")
        .noneMatch(arrival -> ((Credit) arrival.content()).getConsumer() != 0);
    assertThat(slow.counters().bufferedBytes()).isEqualTo(first.length + second.length);
    release.countDown();
    long bytes = (long) first.length + second.length;
    long limit = 0;
    while (limit < bytes + 1024) {
      Credit credit = credit(consume.getId());
      assertThat(credit.getCall()).isZero();
      assertThat(credit.getReceived()).isEqualTo(bytes);
      assertThat(credit.getLimit()).isBetween(limit + 1, bytes + 1024);
      limit = credit.getLimit();
    }
  }

  @Test
  void whatWaitsTakesItsRoomAlsoAfterAReconnect() throws Exception {
    EventBusClient client = connect();
    handler.release = new CountDownLatch(1);
    DurableSubscription slow = client.replay().bufferBytes(1024).handler(handler);
    Consume consume = consume();
    byte[] first = eventOf(consume, 1, 700);
    bus.connection().message(first);
    reconnect();
    assertThat(consume().getLimit()).isEqualTo(1024 - first.length);
    bus.connection().message(eventOf(consume, 2, 700));
    bus.confirmsConsumers = false;
    reconnect();
    assertThat(consume().getLimit()).isZero();
    handler.release.countDown();
    until(() -> slow.counters().bufferedBytes() == 0);
    // Events that were handled between the question and its answer make room, too.
    bus.connection().frame(TypeCode.CONFIRM, confirmed(consume));
    assertThat(credit(consume.getId())).isEqualTo(new Credit(0L, 1024L, 0L, consume.getId()));
  }

  @Test
  void bytesCountFromZeroWhereTheBusAcceptsAConsumerAgain() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").bufferBytes(1024).handler(handler);
    Consume consume = consume();
    get(billing.ready());
    byte[] first = eventOf(consume, 1, 700);
    bus.connection().message(first);
    assertThat(credit(consume.getId()).getReceived()).isEqualTo(first.length);
    problem(consume, io.eventbus.schema.ErrorCode.REPLACED, false);
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(consume().getLimit()).isEqualTo(1024);
    byte[] second = eventOf(consume, 2, 800);
    bus.connection().message(second);
    assertThat(credit(consume.getId()))
        .isEqualTo(new Credit(0L, second.length + 1024L, (long) second.length, consume.getId()));
  }

  @Test
  void bothConnectionsOfAMoveHaveTheirCredit() throws Exception {
    EventBusClient client = connect();
    DurableSubscription replay = client.replay().bufferBytes(1024).handler(handler);
    Consume consume = consume();
    get(replay.ready());
    bus.answersBarriers = false;
    bus.connection(1).askToMove("tok", "ws://two/bus");
    assertThat(bus.next(TypeCode.CONSUME).connection()).isEqualTo(2);
    int bytes = 0;
    for (int position = 1; position <= 2; position++) {
      byte[] frame = eventOf(consume, position, 400);
      bytes += frame.length;
      bus.connection(1).message(frame);
      bus.connection(2).message(frame);
      until(() -> replay.counters().bufferedBytes() == 0);
    }
    Map<Integer, Credit> granted = new HashMap<>();
    while (granted.size() < 2) {
      FakeBus.Arrival arrival = take(bus.credits);
      Credit credit = (Credit) arrival.content();
      if (credit.getConsumer() == consume.getId()) {
        granted.put(arrival.connection(), credit);
      }
    }
    Credit all = new Credit(0L, bytes + 1024L, (long) bytes, consume.getId());
    assertThat(granted).isEqualTo(Map.of(1, all, 2, all));
  }

  @Test
  void whatASlowHandlerDoesNotGetIsToldTogether() throws Exception {
    EventBusClient client = connect();
    handler.release = new CountDownLatch(1);
    DurableSubscription slow = client.replay().bufferBytes(1024).handler(handler);
    Consume consume = consume();
    byte[] first = eventOf(consume, 1, 1);
    bus.connection().message(first);
    for (int position = 2; position <= 100; position++) {
      truncated(consume, position, position, TruncatedReason.EXPIRED);
    }
    assertThat(slow.counters().bufferedBytes()).isEqualTo(first.length + 128);
    for (int position = 101; position <= 200; position++) {
      boolean even = position % 2 == 0;
      truncated(
          consume, position, position, even ? TruncatedReason.PURGED : TruncatedReason.DAMAGED);
    }
    assertThat(slow.counters().bufferedBytes()).isBetween(1024L, 1024L + 128);
    handler.release.countDown();
    assertThat(take(handled, 3))
        .containsExactly("1 x", "truncated 2..100 EXPIRED", "truncated 101..101 DAMAGED");
    String last = "";
    while (!last.endsWith("..200 UNKNOWN")) {
      last = take(handled);
    }
  }

  // ---- Failures of the handler

  @Test
  void afterAFailureTheEventComesAgainAfterAPause() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").from(Start.FIRST).handler(handler);
    handler.failsAt = "y";
    Consume consume = consume();
    feed(consume, 1, 3, stored(1, "x", "y", "z"));
    assertThat(take(handled, 2)).containsExactly("1 x", "failed y");
    assertThat(take(told)).isEqualTo("failed 2");
    assertThat(billing.position()).isEqualTo(1);
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(take(handled)).isEqualTo("failed y");
    assertThat(take(told)).isEqualTo("failed 2");
    handler.failsAt = "";
    scheduler.advance(Duration.ofMillis(4_900));
    assertThat(handled).isEmpty();
    scheduler.advance(Duration.ofMillis(200));
    assertThat(take(handled, 2)).containsExactly("2 y", "3 z");
    assertThat(billing.counters().failed()).isEqualTo(2);
  }

  // ---- Reconnecting

  @Test
  void aDurableSubscriptionGoesOnAfterALostConnection() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").from(Start.FIRST).handler(handler);
    Consume consume = consume();
    feed(consume, 1, 2, stored(1, "x", "y"));
    assertThat(take(handled, 2)).containsExactly("1 x", "2 y");
    until(() -> billing.position() == 2);
    assertThat(settle().getUpTo()).isEqualTo(1);
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    Consume again = consume();
    assertThat(again.getId()).isEqualTo(consume.getId());
    assertThat(again.getName()).isEqualTo("billing");
    // The bus knows only the first settlement, and feeds the second event again.
    bus.connection().message(FakeBus.feed(consume.getId(), 2, 3, 3, stored(2, "y", "z")));
    assertThat(take(handled)).isEqualTo("3 z");
    // The second event may have been settled a moment ago, without a connection.
    assertThat(nextSettle().getUpTo()).isGreaterThanOrEqualTo(2);
    assertThat(billing.counters().duplicates()).isEqualTo(1);
    assertThat(client.counters().duplicates()).isEqualTo(1);
  }

  @Test
  void whatWasHandledIsSettledAgainAfterALostConnection() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").from(Start.FIRST).handler(handler);
    Consume consume = consume();
    feed(consume, 1, 1, stored(1, "x"));
    take(handled);
    assertThat(settle().getUpTo()).isEqualTo(1);
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    consume();
    // The settlement was lost with the connection.
    feed(consume, 1, 1, stored(1, "x"));
    assertThat(settle().getUpTo()).isEqualTo(1);
    assertThat(billing.counters().duplicates()).isEqualTo(1);
    assertThat(handled).isEmpty();
  }

  @Test
  void aReplayGoesOnBehindWhatItHasGot() throws Exception {
    EventBusClient client = connect();
    DurableSubscription replay = client.replay().from(Start.NEW).handler(handler);
    Consume consume = consume();
    get(replay.ready());
    feed(consume, 50, 49);
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    Consume again = consume();
    assertThat(again.getStart()).isEqualTo(ConsumeStart.POSITION);
    assertThat(again.getFrom()).isEqualTo(50);
    assertThat(again.getJournal()).as("as the bus has found it").isEqualTo("shop");
    feed(consume, 50, 50, stored(50, "x"));
    take(handled);
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(consume().getFrom()).isEqualTo(51);
  }

  @Test
  void aConsumerThatTheBusHasEndedAsksAgain() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    get(billing.ready());
    problem(consume, io.eventbus.schema.ErrorCode.REPLACED, false);
    assertThat(take(told)).startsWith("problem no");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(consume().getId()).isEqualTo(consume.getId());
    problem(consume, io.eventbus.schema.ErrorCode.UNAVAILABLE, true);
    scheduler.advance(Duration.ofSeconds(1));
    consume();
    feed(consume, 1, 1, stored(1, "x"));
    assertThat(take(handled)).isEqualTo("1 x");
  }

  @Test
  void aBusOfALaterConnectionIsAskedOnce() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    get(billing.ready());
    problem(consume, io.eventbus.schema.ErrorCode.REPLACED, false);
    reconnect();
    consume();
    scheduler.advance(Duration.ofSeconds(1));
    assertNotAskedAgain(client);
  }

  @Test
  void aBusThatTheClientHasMovedToIsAskedOnce() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    get(billing.ready());
    bus.confirmsConsumers = false;
    bus.connection(1).askToMove("tok", "ws://two/bus");
    assertThat(bus.next(TypeCode.CONSUME).connection()).isEqualTo(2);
    problem(bus.connection(1), consume, io.eventbus.schema.ErrorCode.REPLACED, false);
    scheduler.advance(Duration.ofSeconds(1));
    bus.connection(2).frame(TypeCode.CONFIRM, confirmed(consume));
    until(() -> bus.connection(1).isOver());
    assertNotAskedAgain(client);
  }

  @Test
  void aBusThatTheClientDoesNotLeaveIsAskedAgain() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    get(billing.ready());
    bus.confirmsConsumers = false;
    bus.connection(1).askToMove("tok", "ws://two/bus");
    assertThat(bus.next(TypeCode.CONSUME).connection()).isEqualTo(2);
    problem(bus.connection(1), consume, io.eventbus.schema.ErrorCode.REPLACED, false);
    scheduler.advance(Duration.ofSeconds(1));
    bus.connection(2).end(1006, "lost");
    assertThat(bus.next(TypeCode.CONSUME).connection()).isEqualTo(1);
    scheduler.advance(Duration.ofSeconds(1));
    assertNotAskedAgain(client);
  }

  @Test
  void nothingOfADeletedJournalCountsInTheOneThatWasCreatedAgain() throws Exception {
    bus.creation = 79;
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").from(Start.FIRST).handler(handler);
    Consume consume = consume();
    assertThat(consume.getCreation()).isZero();
    CountDownLatch release = new CountDownLatch(1);
    handler.release = release;
    feed(consume, 1, 2, stored(1, "a", "b"));
    feed(consume, 3, 5, stored(3, "c"));
    until(() -> handler.begun.get() == 1);
    bus.creation = 80;
    reconnect();
    Consume again = consume();
    assertThat(again.getCreation()).isEqualTo(79);
    assertThat(again.getOtherStart()).isEqualTo(ConsumeStart.FIRST);
    feed(again, 1, 2, stored(1, "x", "y"));
    assertThat(take(told)).isEqualTo("truncated 1..5");
    release.countDown();
    assertThat(take(handled, 4)).containsExactly("1 a", "truncated 1..5 DELETED", "1 x", "2 y");
    assertThat(settle()).isEqualTo(DurableFrames.settleUpTo(again.getId(), 1L, false, 80L));
    assertThat(nextSettle()).isEqualTo(DurableFrames.settleUpTo(again.getId(), 2L, false, 80L));
    assertThat(billing.position()).isEqualTo(2);
    bus.creation = 0;
    reconnect();
    assertThat(consume().getCreation()).as("a bus that tells none").isEqualTo(80);
    feed(again, 3, 3, stored(3, "z"));
    assertThat(take(handled)).isEqualTo("3 z");
    assertThat(told).isEmpty();
  }

  @Test
  void framesOfABusThatStillHasTheDeletedJournalDoNotCount() throws Exception {
    bus.creation = 79;
    EventBusClient client = connect();
    DurableSubscription replay = client.replay().from(Start.position(1)).handler(handler);
    Consume consume = consume();
    get(replay.ready());
    feed(consume, 1, 1, stored(1, "a"));
    assertThat(take(handled)).isEqualTo("1 a");
    until(() -> replay.position() == 1);
    bus.creation = 80;
    bus.answersUnsubscribe = false;
    bus.connection(1).askToMove("tok", "ws://two/bus");
    Consume other = consume();
    assertThat(other.getFrom()).isEqualTo(2);
    assertThat(other.getOtherFrom()).isEqualTo(1);
    assertThat(take(told)).isEqualTo("truncated 2..2");
    bus.connection(1)
        .message(FakeBus.feed(consume.getId(), 2, 2, 2, FakeBus.stored("a", 2, 2, "b")));
    bus.connection(2).message(FakeBus.feed(other.getId(), 1, 1, 1, FakeBus.stored("a", 1, 1, "x")));
    assertThat(take(handled, 2)).containsExactly("truncated 2..2 DELETED", "1 x");
  }

  @Test
  void aConsumerThatIsNotWantedAnyMoreIsNotAskedForAgain() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    get(billing.ready());
    bus.answersUnsubscribe = false;
    problem(consume, io.eventbus.schema.ErrorCode.REPLACED, false);
    billing.unsubscribe();
    bus.next(TypeCode.UNSUBSCRIBE);
    scheduler.advance(Duration.ofSeconds(1));
    assertNotAskedAgain(client);
  }

  @Test
  void aRefusedConsumerHasEnded() throws Exception {
    bus.confirmsConsumers = false;
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    CompletableFuture<DurableSubscription> ready = billing.ready().toCompletableFuture();
    problem(consume, io.eventbus.schema.ErrorCode.NO_JOURNAL, false);
    assertThat(failure(ready))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_JOURNAL));
    get(billing.unsubscribe());
    assertThat(told).isEmpty();
  }

  @Test
  void aConsumerWaitsForABusWithDurableTopics() throws Exception {
    bus.durable = false;
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").handler(handler);
    Consume consume = consume();
    assertThat(failure(billing.ready())).isInstanceOf(EventBusException.Refused.class);
    bus.durable = true;
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    consume();
    feed(consume, 1, 1, stored(1, "x"));
    assertThat(take(handled)).isEqualTo("1 x");
  }

  // ---- The end

  @Test
  void unsubscribingFinishesTheEventAndSettlesIt() throws Exception {
    EventBusClient client = connect();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    DurableSubscription billing =
        client
            .durable("billing")
            .handler(
                event -> {
                  begun.countDown();
                  release.await();
                  handled.add(event.text());
                });
    Consume consume = consume();
    feed(consume, 1, 3, stored(1, "x", "y", "z"));
    begun.await();
    CompletableFuture<Void> end = billing.unsubscribe().toCompletableFuture();
    assertThat(end).isNotDone();
    assertThat(bus.arrivals).noneMatch(arrival -> arrival.type() == TypeCode.UNSUBSCRIBE);
    release.countDown();
    get(end);
    assertThat(handled).containsExactly("x");
    List<FakeBus.Arrival> last = List.copyOf(bus.arrivals);
    assertThat(last).extracting(FakeBus.Arrival::type).endsWith(TypeCode.UNSUBSCRIBE);
    assertThat(last)
        .filteredOn(arrival -> arrival.type() == TypeCode.SETTLE)
        .extracting(arrival -> ((Settle) arrival.content()).getUpTo())
        .last()
        .isEqualTo(1L);
    // Late frames are of no interest.
    feed(consume, 4, 4, stored(4, "late"));
    assertThat(handled).containsExactly("x");
  }

  @Test
  void closingTheClientSettlesWhatIsHandled() throws Exception {
    EventBusClient client = connect();
    DurableSubscription billing = client.durable("billing").from(Start.FIRST).handler(handler);
    Consume consume = consume();
    feed(consume, 1, 2, stored(1, "x", "y"));
    take(handled, 2);
    until(() -> billing.position() == 2);
    assertThat(settle().getUpTo()).isEqualTo(1);
    assertThat(client.close(Duration.ofSeconds(30))).isTrue();
    assertThat(settle().getUpTo()).isEqualTo(2);
    assertThat(bus.next(TypeCode.UNSUBSCRIBE).content()).isEqualTo(consume.getId());
  }

  @Test
  void aHandlerMayEndItsOwnConsumer() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Void> ended = new CompletableFuture<>();
    DurableSubscription[] billing = new DurableSubscription[1];
    billing[0] =
        client
            .durable("billing")
            .handler(event -> billing[0].unsubscribe().thenRun(() -> ended.complete(null)));
    Consume consume = consume();
    feed(consume, 1, 2, stored(1, "x", "y"));
    get(ended);
    assertThat(settle().getUpTo()).isEqualTo(1);
  }
}
