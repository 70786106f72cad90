package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.internal.ClientFixture;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.inbound.HeldDeliveries;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Credit that the client grants, against a bus without a network that keeps to it. */
@Timeout(180)
class CreditFlowTest extends ClientFixture {
  private static final String TWO = "ws://two/bus";
  private static final int BUFFER = 256 * 1024;
  private static final String PAYLOAD = "x".repeat(10_000);

  private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<Long> got = new LinkedBlockingQueue<>();
  private final CountDownLatch blocked = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);
  private final Map<Integer, Long> limits = new HashMap<>();
  private final Map<Integer, Long> sent = new HashMap<>();
  private long sequence;

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void busChanged(ConnectionInfo before, ConnectionInfo now) {
          told.add(now.url());
        }

        @Override
        public void busChangeFailed(URI url, String why) {
          told.add(why);
        }

        @Override
        public void problem(EventBusException problem) {
          told.add(problem);
        }

        @Override
        public void gap(Gap gap) {
          told.add(gap);
        }
      };

  @Override
  protected ClientBuilder settings() {
    return super.settings().listener(listener);
  }

  @AfterEach
  void letHandlersGo() {
    go.countDown();
  }

  private void collect(EventBusClient client) throws Exception {
    SubscribeOptions options = SubscribeOptions.DEFAULT.withBufferBytes(BUFFER);
    get(client.subscribe("a", options, event -> got.add(event.sequence())).ready());
  }

  /** Subscribes with a handler that does not come back from the first event until {@code go}. */
  private void collectBlocked(EventBusClient client) throws Exception {
    SubscribeOptions options = SubscribeOptions.DEFAULT.withBufferBytes(BUFFER);
    get(
        client
            .subscribe(
                "a",
                options,
                event -> {
                  blocked.countDown();
                  go.await();
                  got.add(event.sequence());
                })
            .ready());
  }

  private void note(FakeBus.Arrival credit) {
    limits.merge(credit.connection(), ((Credit) credit.content()).getLimit(), Math::max);
  }

  /** Returns the credit that the client has granted over a connection; -1 for none yet. */
  private long limit(int connection) {
    List<FakeBus.Arrival> arrived = new ArrayList<>();
    bus.credits.drainTo(arrived);
    arrived.forEach(this::note);
    return limits.getOrDefault(connection, -1L);
  }

  private void awaitMore(int connection, long than) throws InterruptedException {
    while (limit(connection) <= than) {
      note(take(bus.credits));
    }
  }

  private long sent(int connection) {
    return sent.getOrDefault(connection, 0L);
  }

  private void deliver(int connection) {
    byte[] frame = FakeBus.deliver("a", 5, ++sequence, NO_GROUP, PAYLOAD);
    bus.connection(connection).message(frame);
    sent.merge(connection, (long) frame.length, Long::sum);
  }

  /** Delivers until the client accepts no more; returns the number of the last event. */
  private long deliverAll(int connection) {
    while (sent(connection) < limit(connection)) {
      deliver(connection);
      assertThat(bus.connection(connection).isPaused()).isFalse();
    }
    return sequence;
  }

  private void awaitSequences(long last) throws InterruptedException {
    for (long next = got.isEmpty() ? 1 : got.peek(); next <= last; next++) {
      assertThat(take(got)).isEqualTo(next);
    }
  }

  private void askToMove() {
    bus.connection(1).askToMove("tok", TWO);
  }

  @Test
  void theFirstCreditIsBeforeTheFirstSubscription() throws Exception {
    EventBusClient client = connect();
    collect(client);
    FakeBus.Arrival first = take(bus.credits);
    assertThat(first.content()).isEqualTo(new Credit(0L, CreditGate.MIN_GRANT_BYTES, 0L, 0L));
    assertThat(first.message()).isEqualTo(1);
    assertThat(bus.next(TypeCode.SUBSCRIBE).message()).isEqualTo(2);
  }

  @Test
  void asMuchIsGrantedAsFitsIntoTheBuffer() throws Exception {
    collect(connect());
    long credits = 0;
    while (sequence < 1000) {
      deliver(1);
      for (FakeBus.Arrival c = bus.credits.poll(); c != null; c = bus.credits.poll()) {
        Credit credit = (Credit) c.content();
        assertThat(credit.getReceived()).isLessThanOrEqualTo(sent(1));
        assertThat(credit.getLimit() - credit.getReceived()).isBetween(1L, (long) BUFFER);
        note(c);
        credits++;
      }
      // A client that handles what comes never lets the bus wait.
      awaitMore(1, sent(1));
    }
    awaitSequences(1000);
    assertThat(credits).as("not one for each delivery").isLessThan(200);
    assertThat(bus.connection().isPaused()).isFalse();
  }

  @Test
  void aHandlerThatBlocksStopsDeliveriesAndNothingElse() throws Exception {
    EventBusClient client = connect();
    collectBlocked(client);
    deliverAll(1);
    blocked.await();
    assertThat(sent(1))
        .isBetween((long) BUFFER, BUFFER + CreditGate.MIN_GRANT_BYTES + 2L * PAYLOAD.length());

    get(client.publish("p", Event.of("confirmed")));
    get(client.subscribe("b", event -> {}).ready());
    get(client.flushAsync());
    bus.answersUnsubscribe = false;
    askToMove();
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    get(client.publish("p", Event.of("at the new bus")));
    assertThat(bus.connection(1).isPaused()).isFalse();
    assertThat(bus.connection(2).isPaused()).isFalse();

    // The rest of the old bus comes as the application consumes it.
    long before = limit(1);
    go.countDown();
    awaitMore(1, before);
    long last = deliverAll(1);
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    bus.connection(1)
        .frame(TypeCode.DRAINED, new Drained((Long) bus.next(TypeCode.UNSUBSCRIBE).content()));
    assertThat(take(told)).isEqualTo(URI.create(TWO));
    awaitSequences(last);
    assertThat(told).isEmpty();
  }

  @Test
  void countingStartsAnewWithAConnection() throws Exception {
    collect(connect());
    deliver(1);
    awaitSequences(1);
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    bus.next(TypeCode.SUBSCRIBE);
    bus.next(TypeCode.SUBSCRIBE);
    assertThat(limit(2)).isEqualTo(BUFFER);
  }

  @Test
  void aNewConnectionIsReadThoughNothingMayBeDeliveredYet() throws Exception {
    EventBusClient client = connect();
    collectBlocked(client);
    long last = deliverAll(1);
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    get(client.publish("p", Event.of("confirmed")));
    assertThat(limit(2)).isZero();
    assertThat(bus.connection().isPaused()).isFalse();
    go.countDown();
    awaitMore(2, 0);
    deliver(2);
    awaitSequences(last + 1);
  }

  @Test
  void aBusThatSendsMoreThanItMayIsNotReadUntilThereIsRoom() throws Exception {
    collectBlocked(connect());
    deliverAll(1);
    long before = limit(1);
    deliver(1);
    assertThat(bus.connection().isPaused()).isTrue();
    go.countDown();
    awaitMore(1, before);
    deliver(1);
    awaitSequences(sequence);
    assertThat(bus.connection().isPaused()).isFalse();
  }

  @Test
  void aBusThatDoesNotKnowOfCreditIsAskedOnceAndNotReadInstead() throws Exception {
    bus.knowsCredit = false;
    collectBlocked(connect());
    while (!bus.connection().isPaused()) {
      deliver(1);
    }
    assertThat(sent(1)).isBetween((long) BUFFER, BUFFER + 2L * PAYLOAD.length());
    go.countDown();
    deliver(1);
    awaitSequences(sequence);
    assertThat(bus.credits).hasSize(1);
    assertThat(told).as("nothing that the application could do").isEmpty();
  }

  @Test
  void theNewConnectionOfAMoveGetsItsCreditWhenItsSubscriptionsAreConfirmed() throws Exception {
    collect(connect());
    long id = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    bus.confirmsSubscriptions = false;
    bus.answersUnsubscribe = false;
    askToMove();
    assertThat(bus.next(TypeCode.SUBSCRIBE).connection()).isEqualTo(2);
    assertThat(limit(2)).isEqualTo(-1);
    bus.connection(2)
        .frame(
            TypeCode.CONFIRM, new Confirm(TypeCode.SUBSCRIBE.code(), id, "", -1L, 0L, false, 0L));
    awaitMore(2, -1);
    assertThat(limit(2)).isEqualTo(HeldDeliveries.CREDIT_BYTES);
    bus.next(TypeCode.UNSUBSCRIBE);
    long last = deliverAll(2);
    assertThat(got).isEmpty();
    bus.connection(1).frame(TypeCode.DRAINED, new Drained(id));
    assertThat(take(told)).isEqualTo(URI.create(TWO));
    awaitMore(2, HeldDeliveries.CREDIT_BYTES);
    deliver(2);
    awaitSequences(last + 1);
  }

  @Test
  void aNewConnectionThatIsGivenUpMayDeliverAllThatItHas() throws Exception {
    EventBusClient client = connect();
    SubscribeOptions options = SubscribeOptions.DEFAULT.withGroup("g");
    get(client.subscribe("a", options, event -> got.add(event.sequence())).ready());
    long id = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    bus.answersUnsubscribe = false;
    bus.answersBarriers = false;
    askToMove();
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    assertThat(limit(2)).isEqualTo(HeldDeliveries.CREDIT_BYTES);
    scheduler.advance(Duration.ofSeconds(8));
    assertThat(bus.next(TypeCode.UNSUBSCRIBE).connection()).isEqualTo(2);
    assertThat(barrier.connection()).isEqualTo(1);
    assertThat(limit(2)).isEqualTo(Long.MAX_VALUE);
    bus.connection(2).message(FakeBus.deliver("a", 5, 1, new long[] {id}, "only here"));
    bus.connection(2).frame(TypeCode.DRAINED, new Drained(id));
    assertThat(take(got)).isEqualTo(1);
    assertThat(take(told).toString()).contains("not done in time");
  }

  @Test
  void aBusThatRefusesCreditWhenABufferIsFullIsNotReadAnyMore() throws Exception {
    collectBlocked(connect());
    deliverAll(1);
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                ErrorCode.UNKNOWN_TYPE, "not known", false, 0L, TypeCode.CREDIT.code(), ""));
    assertThat(bus.connection().isPaused()).isTrue();
    go.countDown();
    deliver(1);
    awaitSequences(sequence);
    assertThat(told).as("nothing that the application could do").isEmpty();
  }
}
