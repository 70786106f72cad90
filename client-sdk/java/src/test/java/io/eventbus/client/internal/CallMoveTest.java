package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Invocation;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.Service;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Register;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls during a move. Connection 1 is the old one, 2 the new. */
@Timeout(180)
class CallMoveTest extends ClientFixture {
  private static final RequestOptions TEN_SECONDS =
      RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));

  private static final RequestOptions A_MINUTE =
      RequestOptions.DEFAULT.withTimeout(Duration.ofMinutes(1));

  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<Held> held = new LinkedBlockingQueue<>();

  private record Held(Invocation invocation, CompletableFuture<Event> answer) {}

  @Override
  protected ClientBuilder settings() {
    return super.settings()
        .listener(
            new ConnectionListener() {
              @Override
              public void busChanged(ConnectionInfo before, ConnectionInfo now) {
                told.add("moved");
              }

              @Override
              public void busChangeFailed(URI url, String why) {
                told.add("stayed");
              }
            });
  }

  private long serve(EventBusClient client) throws Exception {
    Service service =
        client.serve(
            "orders",
            invocation -> {
              CompletableFuture<Event> answer = new CompletableFuture<>();
              held.add(new Held(invocation, answer));
              return answer;
            });
    get(service.ready());
    return ((Register) bus.next(TypeCode.REGISTER).content()).getId();
  }

  private void askToMove() throws Exception {
    bus.awaitSent();
    bus.connection(1).askToMove("tok", "ws://two/bus");
  }

  /** Returns the next arrival over a connection. */
  private FakeBus.Arrival next(TypeCode type, int connection) throws InterruptedException {
    FakeBus.Arrival arrival = bus.next(type);
    assertThat(arrival.connection()).isEqualTo(connection);
    return arrival;
  }

  /** Moves the clock until the connection is closed. */
  private void awaitClosed(int connection) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!bus.connection(connection).isOver() && System.nanoTime() - deadline < 0) {
      scheduler.advance(Duration.ofMillis(10));
      Thread.onSpinWait();
    }
    assertThat(bus.connection(connection).isOver()).isTrue();
  }

  @Test
  void aServiceIsAtTheNewBusBeforeItLeavesTheOldOne() throws Exception {
    EventBusClient client = connect();
    long id = serve(client);
    bus.answersUnsubscribe = false;
    bus.confirmsServices = false;
    askToMove();
    assertThat(((Register) next(TypeCode.REGISTER, 2).content()).getId()).isEqualTo(id);
    // Calls come from both until the old bus has said that it sends no more.
    bus.connection(2).message(FakeBus.invoke(-1, id, 5_000, 1, 0, "from two"));
    take(held).answer().complete(Event.of("to two"));
    assertThat(next(TypeCode.REPLY, 2)).isNotNull();
    assertThat(bus.arrivals).isEmpty();
    bus.connection(2)
        .frame(TypeCode.CONFIRM, new Confirm(TypeCode.REGISTER.code(), id, "", -1L, 0L, false, 0L));
    next(TypeCode.UNREGISTER, 1);
    bus.connection(1).message(FakeBus.invoke(-1, id, 5_000, 2, 0, "from one"));
    take(held).answer().complete(Event.of("to one"));
    assertThat(((FakeBus.Answered) next(TypeCode.REPLY, 1).content()).payload())
        .isEqualTo("to one");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained(id));
    assertThat(take(told)).isEqualTo("moved");
    awaitClosed(1);
    assertThat(bus.connection(1).closedWith).isEqualTo(1000);
  }

  @Test
  void newRequestsGoToTheNewBusAndOldOnesEndWhereTheyAre() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> before = client.request("a", Event.of("before"), TEN_SECONDS);
    next(TypeCode.REQUEST, 1);
    askToMove();
    assertThat(take(told)).isEqualTo("moved");
    CompletableFuture<Response> after = client.request("a", Event.of("after"), TEN_SECONDS);
    next(TypeCode.REQUEST, 2);
    assertThat(bus.connection(1).isOver()).isFalse();
    // A number is known over the connection only that the request was sent over.
    bus.connection(2).message(FakeBus.reply(1, "wrong"));
    bus.connection(1).message(FakeBus.reply(1, "one"));
    bus.connection(2).message(FakeBus.reply(2, "two"));
    assertThat(get(before).text()).isEqualTo("one");
    assertThat(get(after).text()).isEqualTo("two");
    scheduler.advance(Duration.ofMillis(10));
    assertThat(bus.connection(1).closedWith).isEqualTo(1000);
  }

  @Test
  void settlesLateCallsAsAfterALostConnection() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> once = client.request("a", Event.of("once"), A_MINUTE);
    CompletableFuture<Response> again =
        client.request("a", Event.of("again"), A_MINUTE.withIdempotent(true));
    CompletableFuture<Response> brief =
        client.request("a", Event.of("brief"), A_MINUTE.withTimeout(Duration.ofSeconds(1)));
    for (int i = 0; i < 3; i++) {
      next(TypeCode.REQUEST, 1);
    }
    askToMove();
    assertThat(take(told)).isEqualTo("moved");
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(failure(brief)).isInstanceOf(CallFailed.DeadlineExceeded.class);
    // The bus waits for 10 s.
    scheduler.advance(Duration.ofMillis(7_900));
    assertThat(once).isNotDone();
    scheduler.advance(Duration.ofMillis(150));
    assertThat(failure(once)).isInstanceOf(CallFailed.BusLost.class);
    FakeBus.Asked repeated = (FakeBus.Asked) next(TypeCode.REQUEST, 2).content();
    assertThat(repeated.attempt()).isEqualTo(1);
    assertThat(bus.connection(1).isOver()).isTrue();
    bus.connection(2).message(FakeBus.reply(repeated.call(), "!"));
    assertThat(get(again).text()).isEqualTo("!");
  }

  @Test
  void aMoveThatTakesLongLeavesItsCallsTheTimeThatTheBusGives() throws Exception {
    EventBusClient client = connect();
    long id = serve(client);
    CompletableFuture<Response> open = client.request("a", Event.of("open"), A_MINUTE);
    next(TypeCode.REQUEST, 1);
    bus.answersBarriers = false;
    bus.answersUnsubscribe = false;
    askToMove();
    long barrier = (Long) next(TypeCode.BARRIER, 1).content();
    bus.awaitSent();
    scheduler.advance(Duration.ofSeconds(6));
    bus.connection(1).frame(TypeCode.BARRIER, new Barrier(barrier));
    next(TypeCode.UNREGISTER, 1);
    bus.awaitSent();
    scheduler.advance(Duration.ofSeconds(5));
    bus.connection(1).frame(TypeCode.DRAINED, new Drained(id));
    assertThat(take(told)).isEqualTo("moved");
    // The time of the bus counts anew from the barrier and what came behind it.
    scheduler.advance(Duration.ofMillis(4_900));
    assertThat(open).isNotDone();
    assertThat(bus.connection(1).isOver()).isFalse();
    scheduler.advance(Duration.ofMillis(150));
    assertThat(failure(open)).isInstanceOf(CallFailed.BusLost.class);
  }

  @Test
  void callsThatStillEndAtTheOldBusDoNotHoldTheNextMove() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> first = client.request("a", Event.of("1"), A_MINUTE);
    next(TypeCode.REQUEST, 1);
    askToMove();
    assertThat(take(told)).isEqualTo("moved");
    CompletableFuture<Response> second = client.request("a", Event.of("2"), A_MINUTE);
    next(TypeCode.REQUEST, 2);
    bus.awaitSent();
    bus.connection(2).askToMove("tok", "ws://three/bus");
    assertThat(take(told)).isEqualTo("moved");
    assertThat(bus.connection(1).isOver()).isFalse();
    assertThat(bus.connection(2).isOver()).isFalse();
    scheduler.advance(Duration.ofSeconds(9));
    bus.connection(1).message(FakeBus.reply(1, "one"));
    bus.connection(2).message(FakeBus.reply(2, "two"));
    assertThat(get(first).text()).isEqualTo("one");
    assertThat(get(second).text()).isEqualTo("two");
    awaitClosed(1);
    awaitClosed(2);
  }

  @Test
  void theOldConnectionWaitsForTheAnswersOfItsMembers() throws Exception {
    EventBusClient client = connect();
    long id = serve(client);
    bus.connection(1).message(FakeBus.invoke(-1, id, 5_000, 1, 0, "from one"));
    Held first = take(held);
    askToMove();
    assertThat(take(told)).isEqualTo("moved");
    assertThat(bus.connection(1).isOver()).isFalse();
    first.answer().complete(Event.of("to one"));
    assertThat(((FakeBus.Answered) next(TypeCode.REPLY, 1).content()).payload())
        .isEqualTo("to one");
    awaitClosed(1);
  }

  @Test
  void theEndOfTheOldConnectionEndsItsCalls() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> lost = client.request("a", Event.of("?"), TEN_SECONDS);
    next(TypeCode.REQUEST, 1);
    askToMove();
    assertThat(take(told)).isEqualTo("moved");
    bus.connection(1).end(1006, "");
    assertThat(failure(lost)).isInstanceOf(CallFailed.BusLost.class);
  }

  @Test
  void requestsGoToTheOldBusUntilTheNewOneServes() throws Exception {
    EventBusClient client = connect();
    serve(client);
    bus.confirmsServices = false;
    askToMove();
    next(TypeCode.REGISTER, 2);
    CompletableFuture<Response> unused = client.request("a", Event.of("?"), TEN_SECONDS);
    next(TypeCode.REQUEST, 1);
    assertThat(unused).isNotDone();
  }

  @Test
  void aClientStaysWhereTheNewBusRefusesAService() throws Exception {
    EventBusClient client = connect();
    long id = serve(client);
    bus.confirmsServices = false;
    askToMove();
    next(TypeCode.REGISTER, 2);
    bus.connection(2)
        .frame(
            TypeCode.PROBLEM,
            new Problem(ErrorCode.FORBIDDEN, "no", false, id, TypeCode.REGISTER.code(), ""));
    assertThat(take(told)).isEqualTo("stayed");
    bus.connection(1).message(FakeBus.invoke(-1, id, 5_000, 1, 0, "?"));
    take(held).answer().complete(Event.of("!"));
    next(TypeCode.REPLY, 1);
    CompletableFuture<Response> unused = client.request("a", Event.of("?"), TEN_SECONDS);
    next(TypeCode.REQUEST, 1);
    assertThat(unused).isNotDone();
  }

  @Test
  void aNewBusThatIsGivenUpIsLeftInGoodOrder() throws Exception {
    EventBusClient client = connect();
    long id = serve(client);
    bus.answersBarriers = false;
    askToMove();
    next(TypeCode.REGISTER, 2);
    bus.connection(2).message(FakeBus.invoke(-1, id, 5_000, 1, 0, "?"));
    Held first = take(held);
    // Too late: the old bus has not answered.
    bus.awaitSent();
    scheduler.advance(Duration.ofMillis(7_500));
    next(TypeCode.UNREGISTER, 2);
    assertThat(bus.connection(2).isOver()).as("a call is under way there").isFalse();
    first.answer().complete(Event.of("!"));
    next(TypeCode.REPLY, 2);
    awaitClosed(2);
    assertThat(take(told)).isEqualTo("stayed");
  }

  @Test
  void aServiceComesBackWhenTheNewBusIsLost() throws Exception {
    EventBusClient client = connect();
    long id = serve(client);
    bus.answersUnsubscribe = false;
    askToMove();
    next(TypeCode.REGISTER, 2);
    next(TypeCode.UNREGISTER, 1);
    bus.connection(2).end(1006, "");
    bus.connection(1).frame(TypeCode.DRAINED, new Drained(id));
    assertThat(take(told)).isEqualTo("stayed");
    assertThat(((Register) next(TypeCode.REGISTER, 1).content()).getId()).isEqualTo(id);
    CompletableFuture<Response> answer = client.request("a", Event.of("?"), TEN_SECONDS);
    long call = ((FakeBus.Asked) next(TypeCode.REQUEST, 1).content()).call();
    bus.connection(1).message(FakeBus.reply(call, "!"));
    assertThat(get(answer).text()).isEqualTo("!");
  }

  @Test
  void requestsGoOnWhenTheOldBusIsLostInTheMove() throws Exception {
    EventBusClient client = connect();
    bus.answersBarriers = false;
    CompletableFuture<Response> lost = client.request("a", Event.of("1"), TEN_SECONDS);
    next(TypeCode.REQUEST, 1);
    askToMove();
    bus.next(TypeCode.BARRIER);
    bus.awaitSent();
    bus.connection(1).end(1006, "");
    assertThat(failure(lost)).isInstanceOf(CallFailed.BusLost.class);
    CompletableFuture<Response> unused = client.request("a", Event.of("2"), TEN_SECONDS);
    next(TypeCode.REQUEST, 2);
    assertThat(unused).isNotDone();
  }
}
