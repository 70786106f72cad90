package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ClientState;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.internal.ClientFixture;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.inbound.HeldDeliveries;
import io.eventbus.client.internal.inbound.SubscriptionState;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Moves, against buses without a network. Connection 1 is the old one, 2 the new. */
@Timeout(180)
class BusMoveTest extends ClientFixture {
  private static final String ONE = "ws://one/bus";
  private static final String TWO = "ws://two/bus";

  private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

  private record Failed(URI url, String why) {}

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void busChanged(ConnectionInfo before, ConnectionInfo now) {
          told.add(now);
        }

        @Override
        public void busChangeFailed(URI url, String why) {
          told.add(new Failed(url, why));
        }

        @Override
        public void disconnected(int code, String reason, boolean willReconnect) {
          told.add("disconnected " + code);
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

  private List<String> take(int count) throws InterruptedException {
    return take(got, count);
  }

  private Subscription collect(EventBusClient client, String filter) throws Exception {
    return get(client.subscribe(filter, event -> got.add(event.text())).ready());
  }

  private Subscription collectInGroup(EventBusClient client, String filter) throws Exception {
    return get(
        client
            .subscribe(
                filter,
                SubscribeOptions.DEFAULT.withGroup("g"),
                event -> got.add("g:" + event.text()))
            .ready());
  }

  private void deliver(int connection, long sequence, String... payloads) {
    bus.connection(connection).message(FakeBus.deliver("a", 5, sequence, NO_GROUP, payloads));
  }

  private void deliver(int connection, long sequence, long group, String payload) {
    bus.connection(connection)
        .message(FakeBus.deliver("a", 5, sequence, new long[] {group}, payload));
  }

  private void askToMove(int connection, String token, String... urls) {
    bus.connection(connection).askToMove(token, urls);
  }

  private void awaitMoved() throws InterruptedException {
    assertThat(take(told))
        .isInstanceOfSatisfying(
            ConnectionInfo.class, info -> assertThat(info.url()).isEqualTo(URI.create(TWO)));
  }

  private Failed awaitFailed() throws InterruptedException {
    Object next = take(told);
    assertThat(next).isInstanceOf(Failed.class);
    return (Failed) next;
  }

  private ChangeBusFailed toldToTheBus() throws InterruptedException {
    FakeBus.Arrival arrival = bus.next(TypeCode.CHANGE_BUS_FAILED);
    assertThat(arrival.connection()).isEqualTo(1);
    return (ChangeBusFailed) arrival.content();
  }

  /** Asserts that a client that stayed works as before. */
  private void assertWorksAtOne(EventBusClient client) throws Exception {
    get(client.publish("p", Event.of("still")));
    FakeBus.Arrival publish = null;
    while (publish == null || !((FakeBus.Batch) publish.content()).payloads().contains("still")) {
      publish = bus.next(TypeCode.PUBLISH);
    }
    assertThat(publish.connection()).isEqualTo(1);
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
    assertThat(bus.connection(1).isOver()).isFalse();
  }

  @Test
  void theNewConnectionIsThereBeforeTheOldOneEnds() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    get(client.publish("p", Event.of("one")));
    bus.answersUnsubscribe = false;
    bus.answersBarriers = false;

    askToMove(1, "tok", TWO);

    Hello hello = bus.hellos.get(1);
    assertThat(hello.getChange()).isEqualTo("tok");
    assertThat(hello.getResume()).isEqualTo("resume-77");
    assertThat(hello.getPrevious()).as("that connection goes on").isNull();
    FakeBus.Arrival subscribe = bus.next(TypeCode.SUBSCRIBE);
    while (subscribe.connection() == 1) {
      subscribe = bus.next(TypeCode.SUBSCRIBE);
    }
    assertThat(((Subscribe) subscribe.content()).getFilter()).isEqualTo("a");
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    assertThat(barrier.connection()).isEqualTo(1);
    assertThat(bus.connection(1).isOver()).isFalse();
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier((Long) barrier.content()));
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(unsubscribe.connection()).isEqualTo(1);
    get(client.publish("p", Event.of("two")));
    FakeBus.Arrival publish = bus.next(TypeCode.PUBLISH);
    assertThat(publish.connection()).isEqualTo(2);
    assertThat(((FakeBus.Batch) publish.content()).sequence()).isEqualTo(2);
    assertThat(bus.connection(1).isOver()).isFalse();
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));

    awaitMoved();
    assertThat(bus.connection(1).closedWith).isEqualTo(1000);
    assertThat(client.connection().orElseThrow().url()).isEqualTo(URI.create(TWO));
    assertThat(client.counters().busChanges()).isEqualTo(1);
    assertThat(client.counters().reconnects()).isZero();
    deliver(2, 1, "x");
    assertThat(take(1)).containsExactly("x");
    assertThat(told).isEmpty();
  }

  @Test
  void holdsDeliveriesOfTheNewConnectionForTheOldOne() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersUnsubscribe = false;
    deliver(1, 1, "1", "2");
    assertThat(take(2)).containsExactly("1", "2");

    askToMove(1, "tok", TWO);

    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    deliver(2, 4, "4", "5");
    deliver(2, 6, "6");
    deliver(1, 3, "3", "4");
    assertThat(take(2)).containsExactly("3", "4");
    deliver(1, 5, "5");
    assertThat(take(1)).containsExactly("5");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    deliver(2, 7, "7");
    assertThat(take(2)).containsExactly("6", "7");
    awaitMoved();
    assertThat(client.counters().duplicates()).isEqualTo(2);
    assertThat(client.counters().missing()).isZero();
    assertThat(told).isEmpty();
  }

  @Test
  void theLastEventsOfTheOldConnectionMayComeWithItsDrained() throws Exception {
    EventBusClient client = connect();
    Subscription subscription = collect(client, "a");
    bus.answersUnsubscribe = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    deliver(2, 3, "3");
    bus.connection(1)
        .message(
            FakeBus.deliver("a", 5, 1, NO_GROUP, "1", "2"),
            io.eventbus.protocol.ControlFrames.encode(
                TypeCode.DRAINED, new Drained((Long) unsubscribe.content())));
    assertThat(take(3)).containsExactly("1", "2", "3");
    awaitMoved();
    assertThat(subscription.counters().interruptions()).isZero();
  }

  @Test
  void aGapOfTheNewConnectionIsToldOnlyWhereTheOldOneHadNothing() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersUnsubscribe = false;
    deliver(1, 1, "1");
    askToMove(1, "tok", TWO);
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    bus.connection(2)
        .frame(TypeCode.GAP, new io.eventbus.schema.Gap("a", 5L, 2L, 4L, GapReason.QUEUE_FULL));
    deliver(2, 5, "5");
    deliver(1, 2, "2", "3");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    assertThat(take(4)).containsExactly("1", "2", "3", "5");
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 4, 4, Gap.Reason.QUEUE_FULL));
    assertThat(client.counters().missing()).isEqualTo(1);
  }

  @Test
  void publishingWaitsForTheBarrierAndGoesOnInOrder() throws Exception {
    EventBusClient client = connect();
    bus.answersBarriers = false;
    client.send("p", Event.of("1"));
    assertThat(bus.nextPublish().payloads()).containsExactly("1");
    askToMove(1, "tok", TWO);
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    client.send("p", Event.of("2"));
    CompletionStage<?> third = client.publish("p", Event.of("3"));
    CompletionStage<Void> flushed = client.flushAsync();
    assertThat(bus.arrivals.poll(100, TimeUnit.MILLISECONDS)).isNull();
    bus.answersBarriers = true;
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier((Long) barrier.content()));
    List<String> payloads = new ArrayList<>();
    long next = 2;
    while (payloads.size() < 2) {
      FakeBus.Arrival publish = bus.next(TypeCode.PUBLISH);
      assertThat(publish.connection()).isEqualTo(2);
      FakeBus.Batch batch = (FakeBus.Batch) publish.content();
      assertThat(batch.sequence()).isEqualTo(next);
      next += batch.payloads().size();
      payloads.addAll(batch.payloads());
    }
    assertThat(payloads).containsExactly("2", "3");
    get(third);
    get(flushed);
    awaitMoved();
    assertThat(client.counters().resent()).isZero();
    assertThat(client.counters().indeterminate()).isZero();
  }

  @Test
  void aBarrierThatTheBusCannotGiveIsAskedForAgain() throws Exception {
    EventBusClient client = connect();
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    bus.connection(1)
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                ErrorCode.INTERNAL,
                "a bus is silent",
                true,
                (Long) barrier.content(),
                TypeCode.BARRIER.code(),
                ""));
    get(client.publish("p", Event.of("meanwhile")));
    assertThat(bus.next(TypeCode.PUBLISH).connection()).isEqualTo(1);
    bus.answersBarriers = true;
    scheduler.advance(Duration.ofMillis(200));
    assertThat(bus.next(TypeCode.BARRIER).connection()).isEqualTo(1);
    awaitMoved();
  }

  @Test
  void staysWhenTheNewBusIsUnreachable() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.unreachable.add(TWO);
    askToMove(1, "tok", TWO);
    ChangeBusFailed failed = toldToTheBus();
    assertThat(failed.getToken()).isEqualTo("tok");
    assertThat(failed.getMessage()).contains("unreachable");
    assertThat(awaitFailed().url()).isEqualTo(URI.create(TWO));
    assertWorksAtOne(client);
    deliver(1, 1, "1");
    assertThat(take(1)).containsExactly("1");
  }

  @Test
  void theNextAddressIsTriedWhenOneCannotBeReached() throws Exception {
    connect();
    bus.unreachable.add("ws://three/bus");
    askToMove(1, "tok", "ws://three/bus", TWO);
    awaitMoved();
  }

  @Test
  void staysWhenTheNewBusRefuses() throws Exception {
    EventBusClient client = connect();
    bus.silent = true;
    askToMove(1, "tok", TWO);
    FakeBus.Connection two = bus.connection(2);
    two.open();
    two.end(4500, "Hello.change was used before");
    assertThat(awaitFailed().why()).contains("used before");
    assertThat(toldToTheBus().getMessage()).contains("used before");
    assertWorksAtOne(client);
  }

  @Test
  void anotherProducerNumberIsNoBusToGoTo() throws Exception {
    EventBusClient client = connect();
    bus.producer = 78;
    askToMove(1, "tok", TWO);
    assertThat(awaitFailed().why()).contains("78");
    assertThat(bus.connection(2).isOver()).isTrue();
    assertWorksAtOne(client);
  }

  @Test
  void aBusThatRefusesASubscriptionIsNotGoneTo() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.confirmsSubscriptions = false;
    askToMove(1, "tok", TWO);
    bus.connection(2)
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                ErrorCode.LIMIT_EXCEEDED, "no room", false, 1L, TypeCode.SUBSCRIBE.code(), ""));
    assertThat(awaitFailed().why()).contains("no room");
    assertThat(bus.connection(2).isOver()).isTrue();
    assertWorksAtOne(client);
    deliver(1, 1, "1");
    assertThat(take(1)).containsExactly("1");
  }

  @Test
  void aConfirmationOfTheNewBusCountsWhenTheClientHasMoved() throws Exception {
    EventBusClient client = connect();
    bus.confirmsSubscriptions = false;
    bus.answersBarriers = false;
    Subscription subscription = client.subscribe("a", event -> {});
    askToMove(1, "tok", TWO);
    bus.connection(2)
        .frame(
            TypeCode.CONFIRM, new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L));
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    assertThat(((SubscriptionState) subscription).isConfirmed()).isFalse();
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier((Long) barrier.content()));
    awaitMoved();
    get(subscription.ready());
  }

  @Test
  void aConfirmationOfTheNewBusDoesNotCountForAClientThatStays() throws Exception {
    EventBusClient client = connect();
    bus.confirmsSubscriptions = false;
    bus.answersBarriers = false;
    CompletionStage<Subscription> ready = client.subscribe("a", event -> {}).ready();
    askToMove(1, "tok", TWO);
    bus.connection(2)
        .frame(
            TypeCode.CONFIRM, new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L));
    bus.next(TypeCode.BARRIER);
    scheduler.advance(Duration.ofMillis(7_600));
    awaitFailed();
    bus.connection(1)
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                ErrorCode.LIMIT_EXCEEDED, "no room", false, 1L, TypeCode.SUBSCRIBE.code(), ""));
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(ready))
        .withMessageContaining("no room");
  }

  @Test
  void staysAtTheDeadlineAndLosesNothing() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.confirmsSubscriptions = false;
    askToMove(1, "tok", TWO);
    deliver(2, 1, "1");
    scheduler.advance(Duration.ofMillis(7_400));
    assertThat(told).isEmpty();
    scheduler.advance(Duration.ofMillis(200));
    assertThat(awaitFailed().why()).contains("not done in time");
    deliver(1, 1, "1");
    assertThat(take(1)).containsExactly("1");
    assertThat(client.counters().duplicates()).isZero();
    assertWorksAtOne(client);
  }

  @Test
  void waitsForTheOldBusUntilItsDeadline() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersUnsubscribe = false;
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    scheduler.advance(Duration.ofSeconds(7));
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier((Long) barrier.content()));
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(unsubscribe.connection()).isEqualTo(1);
    deliver(2, 3, "3");
    scheduler.advance(Duration.ofMillis(9_900));
    assertThat(got).isEmpty();
    deliver(1, 1, "1");
    deliver(1, 2, "2");
    assertThat(take(2)).containsExactly("1", "2");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    assertThat(take(1)).containsExactly("3");
    awaitMoved();
  }

  @Test
  void staysWhenTheNewBusIsLostBeforeLeaving() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    bus.next(TypeCode.BARRIER);
    CompletionStage<?> waiting = client.publish("p", Event.of("waiting"));
    deliver(2, 2, "2");
    bus.connection(2).end(1006, "gone");
    awaitFailed();
    get(waiting);
    assertThat(bus.next(TypeCode.PUBLISH).connection()).isEqualTo(1);
    deliver(1, 1, "1", "2");
    assertThat(take(2)).containsExactly("1", "2");
    assertThat(client.counters().missing()).isZero();
    assertWorksAtOne(client);
  }

  @Test
  void comesBackWhenTheNewBusIsLostAfterLeaving() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersUnsubscribe = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    get(client.publish("p", Event.of("there")));
    bus.confirms = false;
    CompletionStage<?> unanswered = client.publish("p", Event.of("unanswered"));
    bus.awaitPayload("unanswered");
    bus.confirms = true;
    deliver(2, 2, "2");
    bus.connection(2).end(1006, "gone");
    deliver(1, 1, "1");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    assertThat(take(2)).containsExactly("1", "2");
    FakeBus.Arrival again = bus.next(TypeCode.SUBSCRIBE);
    assertThat(again.connection()).isEqualTo(1);
    get(unanswered);
    awaitFailed();
    deliver(1, 4, "4");
    assertThat(take(1)).containsExactly("4");
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 3, 3, Gap.Reason.LOST));
    assertWorksAtOne(client);
  }

  @Test
  void goesOnAtTheNewBusWhenTheOldOneIsLost() throws Exception {
    EventBusClient client = connect();
    Subscription subscription = collect(client, "a");
    bus.confirms = false;
    CompletionStage<?> unanswered = client.publish("p", Event.of("unanswered"));
    bus.awaitPayload("unanswered");
    bus.confirms = true;
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    bus.next(TypeCode.BARRIER);
    deliver(1, 1, "1");
    deliver(2, 2, "2");
    bus.connection(1).end(1006, "killed");
    assertThat(take(2)).containsExactly("1", "2");
    get(unanswered);
    FakeBus.Arrival resent = bus.next(TypeCode.PUBLISH);
    assertThat(resent.connection()).isEqualTo(2);
    assertThat(((FakeBus.Batch) resent.content()).sequence()).isEqualTo(1);
    awaitMoved();
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
    assertThat(client.counters().reconnects()).isZero();
    deliver(2, 3, "3");
    assertThat(take(1)).containsExactly("3");
    assertThat(subscription.counters().interruptions())
        .as("what the old bus still had is lost with it")
        .isEqualTo(1);
  }

  @Test
  void reconnectsWhenBothConnectionsAreLost() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    bus.next(TypeCode.BARRIER);
    // A proxy between client and buses ends, and both connections with it.
    scheduler.execute(
        () -> {
          bus.connection(1).end(1006, "killed");
          bus.connection(2).end(1006, "killed too");
        });
    assertThat(take(told)).isEqualTo("disconnected 1006");
    assertThat(client.state()).isEqualTo(ClientState.RECONNECTING);
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.attempts).hasSize(3);
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
    deliver(3, 1, "1");
    assertThat(take(1)).containsExactly("1");
    assertThat(told).isEmpty();
  }

  @Test
  void reconnectsToTheNewBusWhenTheOldOneIsLostEarly() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.silent = true;
    askToMove(1, "tok", TWO);
    bus.silent = false;
    bus.connection(1).end(1006, "killed");
    assertThat(take(told)).isEqualTo("disconnected 1006");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(bus.attempts.get(2)).isEqualTo(URI.create(TWO));
    assertThat(bus.hellos.get(1).getChange()).isNull();
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
    deliver(3, 1, "1");
    assertThat(take(1)).containsExactly("1");
  }

  @Test
  void eventsOfAGroupComeInOrderWhicheverConnectionTheyTake() throws Exception {
    EventBusClient client = connect();
    Subscription member = collectInGroup(client, "a");
    long id = ((SubscriptionState) member).id();
    bus.answersUnsubscribe = false;
    deliver(1, 1, id, "1");
    askToMove(1, "tok", TWO);
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    deliver(2, 2, id, "2");
    deliver(2, 5, id, "5");
    deliver(1, 3, id, "3");
    deliver(1, 4, id, "4");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    deliver(2, 6, id, "6");
    assertThat(take(6)).containsExactly("g:1", "g:2", "g:3", "g:4", "g:5", "g:6");
    awaitMoved();
    assertThat(client.counters().duplicates()).isZero();
  }

  /** Moves a member of a group until the old bus has drained it; the Pong is still to come. */
  private long drainedMember(EventBusClient client) throws Exception {
    bus.answersPings = false;
    long id = ((SubscriptionState) collectInGroup(client, "a")).id();
    bus.answersUnsubscribe = false;
    deliver(1, 1, id, "1");
    askToMove(1, "tok", TWO);
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    deliver(1, 3, id, "3");
    assertThat(take(1)).containsExactly("g:1");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    bus.awaitPing();
    return id;
  }

  @Test
  void readsEarlierGroupEventsOfTheNewBusFirst() throws Exception {
    EventBusClient client = connect();
    long id = drainedMember(client);
    assertThat(got).isEmpty();
    deliver(2, 2, id, "2");
    bus.connection(2).pong();
    assertThat(take(2)).containsExactly("g:2", "g:3");
    awaitMoved();
    assertThat(told).isEmpty();
  }

  @Test
  void aNewBusThatAnswersNoPingIsNotWaitedForLong() throws Exception {
    EventBusClient client = connect();
    drainedMember(client);
    scheduler.advance(PingFence.PONG_TIMEOUT.minusMillis(1));
    assertThat(got).isEmpty();
    scheduler.advance(Duration.ofMillis(1));
    assertThat(take(1)).containsExactly("g:3");
    awaitMoved();
  }

  @Test
  void aNewBusThatIsLostIsNotWaitedFor() throws Exception {
    EventBusClient client = connect();
    long id = drainedMember(client);
    deliver(2, 2, id, "2");
    bus.connection(2).end(1006, "");
    assertThat(take(2)).containsExactly("g:2", "g:3");
    awaitFailed();
    bus.answersUnsubscribe = true;
    assertWorksAtOne(client);
  }

  @Test
  void waitsForNoPongWithoutGroups() throws Exception {
    bus.answersPings = false;
    EventBusClient client = connect();
    collect(client, "a");
    askToMove(1, "tok", TWO);
    awaitMoved();
    assertThat(bus.pings).hasValue(0);
  }

  @Test
  void aTopicWithAndWithoutAGroupLosesNothingOfEither() throws Exception {
    EventBusClient client = connect();
    Subscription member = collectInGroup(client, "a");
    long id = ((SubscriptionState) member).id();
    BlockingQueue<String> plain = new LinkedBlockingQueue<>();
    get(client.subscribe("a", event -> plain.add(event.text())).ready());
    bus.answersUnsubscribe = false;
    askToMove(1, "tok", TWO);
    List<Long> ids = new ArrayList<>();
    ids.add((Long) bus.next(TypeCode.UNSUBSCRIBE).content());
    ids.add((Long) bus.next(TypeCode.UNSUBSCRIBE).content());
    // The bus has chosen the old connection for 1 and the new one for 2.
    deliver(1, 1, id, "1");
    deliver(1, 2, "2");
    deliver(2, 1, "1");
    deliver(2, 2, id, "2");
    deliver(2, 3, id, "3");
    ids.forEach(one -> bus.connection(1).frame(TypeCode.DRAINED, new Drained(one)));
    assertThat(take(3)).containsExactly("g:1", "g:2", "g:3");
    assertThat(List.of(take(plain), take(plain), take(plain))).containsExactly("1", "2", "3");
    awaitMoved();
    assertThat(got).isEmpty();
    assertThat(plain).isEmpty();
  }

  @Test
  void deliversGroupEventsOfTheNewConnectionWhenItStays() throws Exception {
    EventBusClient client = connect();
    Subscription member = collectInGroup(client, "a");
    long id = ((SubscriptionState) member).id();
    bus.answersBarriers = false;
    bus.answersUnsubscribe = false;
    askToMove(1, "tok", TWO);
    bus.next(TypeCode.BARRIER);
    deliver(2, 1, id, "1");
    deliver(1, 3, id, "3");
    scheduler.advance(Duration.ofMillis(7_600));
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(unsubscribe.connection()).isEqualTo(2);
    deliver(2, 2, id, "2");
    bus.connection(2).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    assertThat(take(3)).containsExactly("g:1", "g:2", "g:3");
    awaitFailed();
    bus.answersBarriers = true;
    assertWorksAtOne(client);
  }

  @Test
  void sendsRequestsOfTheApplicationToTheFinalBus() throws Exception {
    EventBusClient client = connect();
    Subscription first = collect(client, "a");
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    CompletionStage<Subscription> late = client.subscribe("b", event -> got.add("b")).ready();
    CompletionStage<Void> ended = first.unsubscribe();
    bus.answersBarriers = true;
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier((Long) barrier.content()));
    get(late);
    get(ended);
    awaitMoved();
    bus.connection(2).message(FakeBus.deliver("b", 5, 1, NO_GROUP, "x"));
    assertThat(take(1)).containsExactly("b");
  }

  @Test
  void aSubscriptionThatWasEndingIsEndedByTheOldBus() throws Exception {
    EventBusClient client = connect();
    Subscription first = collect(client, "a");
    bus.answersUnsubscribe = false;
    CompletionStage<Void> ended = first.unsubscribe();
    long id = (Long) bus.next(TypeCode.UNSUBSCRIBE).content();
    askToMove(1, "tok", TWO);
    bus.next(TypeCode.BARRIER);
    deliver(1, 1, "last");
    assertThat(take(1)).containsExactly("last");
    assertThat(bus.connection(1).isOver()).isFalse();
    bus.connection(1).frame(TypeCode.DRAINED, new Drained(id));
    get(ended);
    awaitMoved();
  }

  @Test
  void onlyOneMoveIsUnderWayAtATime() throws Exception {
    EventBusClient client = connect();
    bus.answersBarriers = false;
    askToMove(1, "first", TWO);
    FakeBus.Arrival barrier = bus.next(TypeCode.BARRIER);
    askToMove(1, "second", "ws://three/bus");
    assertThat(toldToTheBus().getToken()).isEqualTo("second");
    // The new bus wants the client to move: that is done when it has come.
    askToMove(2, "third", ONE);
    bus.answersBarriers = true;
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier((Long) barrier.content()));
    awaitMoved();
    assertThat(((ConnectionInfo) take(told)).url()).isEqualTo(URI.create(ONE));
    assertThat(bus.hellos.get(2).getChange()).isEqualTo("third");
    assertThat(client.counters().busChanges()).isEqualTo(2);
  }

  @Test
  void movesOnlySoOftenInAMinute() throws Exception {
    connect();
    int connection = 1;
    for (int i = 0; i < MoveLimit.MAX_PER_MINUTE; i++) {
      askToMove(connection, "tok", connection % 2 == 1 ? TWO : ONE);
      take(told);
      connection++;
    }
    askToMove(connection, "once too often", ONE);
    FakeBus.Arrival failed = bus.next(TypeCode.CHANGE_BUS_FAILED);
    assertThat(((ChangeBusFailed) failed.content()).getToken()).isEqualTo("once too often");
    bus.awaitSent();
    scheduler.advance(Duration.ofMinutes(1));
    askToMove(connection, "tok", TWO);
    assertThat(take(told)).isInstanceOf(ConnectionInfo.class);
  }

  @Test
  void aClientThatIsClosedInTheMiddleLeavesNothingOpen() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    bus.next(TypeCode.BARRIER);
    client.close(Duration.ZERO);
    assertThat(bus.connection(1).isOver()).isTrue();
    assertThat(bus.connection(2).isOver()).isTrue();
  }

  @Test
  void aConfirmOfTheNewBusIsNotTakenTwice() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.confirmsSubscriptions = false;
    askToMove(1, "tok", TWO);
    Confirm confirm = new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L);
    bus.connection(2).frame(TypeCode.CONFIRM, confirm);
    awaitMoved();
    bus.connection(2).frame(TypeCode.CONFIRM, confirm);
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
  }

  /** Subscribes with a handler that returns only when the test lets it. */
  private CountDownLatch collectSlowly(EventBusClient client, String filter) throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    get(
        client
            .subscribe(
                filter,
                SubscribeOptions.DEFAULT.withBufferBytes(1_024),
                event -> {
                  if (!go.await(60, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("the test never let it go on");
                  }
                  got.add(event.text());
                })
            .ready());
    return go;
  }

  @Test
  void publishingGoesOnWhenTheApplicationKeepsTheAnswerFromBeingRead() throws Exception {
    bus.knowsCredit = false;
    EventBusClient client = connect();
    CountDownLatch go = collectSlowly(client, "a");
    bus.answersBarriers = false;
    askToMove(1, "tok", TWO);
    assertThat(bus.next(TypeCode.BARRIER).connection()).isEqualTo(1);
    String big = "x".repeat(600);
    deliver(1, 1, big, big, big, big);
    CompletionStage<?> published = client.publish("p", Event.of("of the handler"));

    scheduler.advance(Duration.ofMillis(100));

    assertThat(bus.next(TypeCode.PUBLISH).connection()).isEqualTo(1);
    go.countDown();
    get(published);
    assertThat(take(4)).containsOnly(big);
    bus.answersBarriers = true;
    scheduler.advance(Duration.ofMillis(200));
    assertThat(bus.next(TypeCode.BARRIER).connection()).isEqualTo(1);
    awaitMoved();
  }

  @Test
  void waitsForTheOldBusHoweverSlowTheApplication() throws Exception {
    EventBusClient client = connect();
    CountDownLatch go = collectSlowly(client, "a");
    bus.answersUnsubscribe = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival unsubscribe = bus.next(TypeCode.UNSUBSCRIBE);
    String big = "x".repeat(600);
    deliver(1, 1, big, big, big, big);
    deliver(2, 7, "7");

    scheduler.advance(Duration.ofSeconds(20));

    assertThat(told).isEmpty();
    go.countDown();
    assertThat(take(4)).containsOnly(big);
    deliver(1, 5, "5", "6");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained((Long) unsubscribe.content()));
    assertThat(take(3)).containsExactly("5", "6", "7");
    awaitMoved();
    assertThat(client.counters().missing()).isZero();
  }

  @Test
  void staysWhenTooMuchIsHeldForGroups() throws Exception {
    EventBusClient client = connect();
    long group = ((SubscriptionState) collectInGroup(client, "a")).id();
    bus.confirmsSubscriptions = false;
    askToMove(1, "tok", TWO);
    FakeBus.Arrival subscribe = bus.next(TypeCode.SUBSCRIBE);
    while (subscribe.connection() == 1) {
      subscribe = bus.next(TypeCode.SUBSCRIBE);
    }
    String big = "x".repeat(32 << 10);
    int count = (int) (HeldDeliveries.MAX_BYTES >> 15) + 1;
    for (int i = 1; i <= count; i++) {
      deliver(1, i, group, big);
    }
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(awaitFailed().why()).contains("groups");
    assertThat(take(count)).hasSize(count);
    assertWorksAtOne(client);
  }
}
