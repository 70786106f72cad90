package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.CallInterceptor;
import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Invocation;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Register;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Serving, against a bus without a network and with a clock that stands. */
@Timeout(180)
class MemberTest extends ClientFixture {
  private static final ServiceOptions ONE = ServiceOptions.DEFAULT.withConcurrency(1);

  private final BlockingQueue<String> failures = new LinkedBlockingQueue<>();
  private final BlockingQueue<Held> held = new LinkedBlockingQueue<>();

  /** Request that the handler has begun with, and its answer. */
  private record Held(Invocation invocation, CompletableFuture<Event> answer) {}

  /** Handler whose answers the test gives. */
  private final RequestHandler holding =
      invocation -> {
        CompletableFuture<Event> answer = new CompletableFuture<>();
        held.add(new Held(invocation, answer));
        return answer;
      };

  @Override
  protected ClientBuilder settings() {
    return super.settings()
        .listener(
            new ConnectionListener() {
              @Override
              public void requestFailed(Invocation invocation, Throwable failure) {
                failures.add(invocation.service() + " " + failure.getMessage());
              }
            });
  }

  private static CompletionStage<Event> answer(String text) {
    return CompletableFuture.completedFuture(Event.of(text));
  }

  /** Registers the service and returns its id. */
  private long serve(EventBusClient client, ServiceOptions options, RequestHandler handler)
      throws Exception {
    get(client.serve("orders", options, handler).ready());
    return ((Register) bus.next(TypeCode.REGISTER).content()).getId();
  }

  private void invoke(long call, long service, long request) {
    bus.connection().message(FakeBus.invoke(call, service, 2_000, request, 0, "r" + request));
  }

  @Test
  void aServiceThatAnOldBusDoesNotKnowStaysForTheNext() throws Exception {
    EventBusClient client = connect(b -> b.confirmTimeout(Duration.ofSeconds(5)));
    bus.knowsServices = false;
    CompletionStage<Service> ready = client.serve("orders", ONE, holding).ready();
    assertThat(ready.toCompletableFuture()).failsWithin(Duration.ofSeconds(60));
    bus.next(TypeCode.REGISTER);
    scheduler.advance(Duration.ofSeconds(10));
    bus.knowsServices = true;
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofSeconds(1));
    long service = ((Register) bus.next(TypeCode.REGISTER).content()).getId();
    invoke(-1, service, 1);
    take(held).answer().complete(Event.of("done"));
  }

  @Test
  void aServiceIsRegisteredAndItsHandlerAnswers() throws Exception {
    EventBusClient client = connect();
    ServiceOptions options =
        ServiceOptions.DEFAULT
            .withConcurrency(3)
            .withIdentify(true)
            .withVersion("1.2")
            .withMetadata(Map.of("zone", "a"));
    BlockingQueue<Invocation> seen = new LinkedBlockingQueue<>();
    Service service =
        client.serve(
            "orders",
            options,
            invocation -> {
              seen.add(invocation);
              return answer("answer to " + invocation.event().text());
            });
    assertThat(get(service.ready())).isSameAs(service);
    Register register = (Register) bus.next(TypeCode.REGISTER).content();
    assertThat(register)
        .isEqualTo(
            new Register(
                register.getId(),
                "orders",
                3,
                true,
                "1.2",
                Map.of("zone", "a"),
                Overflow.DROP_OLDEST));
    bus.connection().message(FakeBus.invoke(-1, register.getId(), 2_000, 17, 1, "this"));
    FakeBus.Answered reply = bus.nextReply();
    assertThat(reply.call()).isEqualTo(-1);
    assertThat(reply.payload()).isEqualTo("answer to this");
    Invocation invocation = take(seen);
    assertThat(invocation.service()).isEqualTo("orders");
    assertThat(invocation.method()).isEqualTo("m");
    assertThat(invocation.caller()).isEqualTo(5);
    assertThat(invocation.request()).isEqualTo(17);
    assertThat(invocation.identity()).isEqualTo("alice");
    assertThat(invocation.attempt()).isEqualTo(1);
    assertThat(invocation.remaining()).isEqualTo(Duration.ofSeconds(2));
    assertThat(service.stats().answered()).isEqualTo(1);
  }

  @Test
  void aRefusedServiceFails() throws Exception {
    bus.confirmsServices = false;
    EventBusClient client = connect();
    Service service = client.serve("orders", holding);
    Register register = (Register) bus.next(TypeCode.REGISTER).content();
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                io.eventbus.schema.ErrorCode.FORBIDDEN,
                "no",
                false,
                register.getId(),
                TypeCode.REGISTER.code(),
                ""));
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(service.ready()))
        .satisfies(
            e ->
                assertThat(e.getCause())
                    .isInstanceOfSatisfying(
                        EventBusException.Refused.class,
                        r -> assertThat(r.code()).isEqualTo(ErrorCode.FORBIDDEN)));
  }

  @Test
  void aServiceThatIsNotConfirmedEndsAtTheBus() throws Exception {
    bus.confirmsServices = false;
    EventBusClient client = connect();
    Service service = client.serve("orders", holding);
    service.ready();
    scheduler.advance(Duration.ofSeconds(31));
    bus.next(TypeCode.UNREGISTER);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(service.ready()))
        .withCauseInstanceOf(EventBusException.TimedOut.class);
  }

  @Test
  void anOldBusFailsTheServiceAndTheNextOneMayServeIt() throws Exception {
    bus.knowsServices = false;
    EventBusClient client = connect();
    Service service = client.serve("orders", holding);
    assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> get(service.ready()));
    bus.next(TypeCode.REGISTER);
    bus.knowsServices = true;
    bus.awaitSent();
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    long id = ((Register) bus.next(TypeCode.REGISTER).content()).getId();
    invoke(-1, id, 1);
    take(held).answer().complete(Event.of("!"));
    assertThat(bus.nextReply().payload()).isEqualTo("!");
  }

  @Test
  void noMoreHandlersAreAtWorkThanTheServiceAllows() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ServiceOptions.DEFAULT.withConcurrency(2), holding);
    for (int i = 1; i <= 5; i++) {
      invoke(-i, id, i);
    }
    Held first = take(held);
    take(held);
    assertThat(held.poll(50, TimeUnit.MILLISECONDS)).isNull();
    first.answer().complete(Event.of("1"));
    assertThat(bus.nextReply().payload()).isEqualTo("1");
    assertThat(take(held).invocation().event().text()).isEqualTo("r3");
    assertThat(held).isEmpty();
  }

  @Test
  void expiredRequestsNeverReachTheHandler() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ONE, holding);
    invoke(-1, id, 1);
    invoke(-2, id, 2);
    Held first = take(held);
    bus.awaitSent();
    clock.advance(Duration.ofSeconds(2));
    assertThat(first.invocation().remaining()).isZero();
    first.answer().complete(Event.of("late, but answered"));
    bus.nextReply();
    Failure expired = bus.nextFailure();
    assertThat(expired.getCall()).isEqualTo(-2);
    assertThat(expired.getCode()).isEqualTo(FailureCode.TIMEOUT);
    assertThat(expired.getExecuted()).isEqualTo(Execution.NO);
    assertThat(held).isEmpty();
  }

  @Test
  void aCancelledRequestThatWaitsIsAnsweredAtOnce() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ONE, holding);
    invoke(-1, id, 1);
    take(held);
    for (int i = 2; i < 100; i++) {
      invoke(-i, id, i);
      bus.connection().frame(TypeCode.CANCEL, new Cancel((long) -i, ""));
      Failure cancelled = bus.nextFailure();
      assertThat(cancelled.getCall()).isEqualTo(-i);
      assertThat(cancelled.getCode()).isEqualTo(FailureCode.CANCELLED);
      assertThat(cancelled.getExecuted()).isEqualTo(Execution.NO);
    }
  }

  @Test
  void aCancelledRequestTellsItsHandlerAndKeepsItsPlace() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ONE, holding);
    invoke(-1, id, 1);
    invoke(-2, id, 2);
    Held first = take(held);
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    first.invocation().onCancel(() -> told.add("cancelled"));
    bus.connection().frame(TypeCode.CANCEL, new Cancel(-1L, ""));
    assertThat(take(told)).isEqualTo("cancelled");
    assertThat(first.invocation().isCancelled()).isTrue();
    first.invocation().onCancel(() -> told.add("at once"));
    assertThat(take(told)).isEqualTo("at once");
    assertThat(held).isEmpty();
    first.answer().completeExceptionally(new IllegalStateException("given up"));
    assertThat(bus.nextFailure().getCall()).isEqualTo(-1);
    assertThat(take(held).invocation().request()).isEqualTo(2);
  }

  @Test
  void theFailureOfAHandlerIsToldHereAndNotToTheCaller() throws Exception {
    EventBusClient client = connect();
    long id =
        serve(
            client,
            ONE,
            invocation -> {
              throw new IllegalStateException("password=secret");
            });
    invoke(-1, id, 1);
    Failure failure = bus.nextFailure();
    assertThat(failure.getCode()).isEqualTo(FailureCode.FAILED);
    assertThat(failure.getExecuted()).isEqualTo(Execution.YES);
    assertThat(failure.getMessage())
        .contains("java.lang.IllegalStateException")
        .doesNotContain("secret");
    assertThat(take(failures)).isEqualTo("orders password=secret");
  }

  @Test
  void aHandlerThatReturnsNullHasFailed() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ONE, invocation -> CompletableFuture.completedFuture(null));
    invoke(-1, id, 1);
    assertThat(bus.nextFailure().getCode()).isEqualTo(FailureCode.FAILED);
    assertThat(take(failures)).contains("expected: an event");
  }

  @Test
  void aHandlerRejectsInItsOwnWords() throws Exception {
    EventBusClient client = connect();
    long id =
        serve(
            client,
            ONE,
            invocation -> {
              if (invocation.request() == 1) {
                throw Rejected.unknownMethod(invocation.method());
              }
              return CompletableFuture.failedFuture(
                  invocation.request() == 2
                      ? Rejected.refused("not now", Duration.ofMillis(70))
                      : Rejected.failed("no-such-order", "order 3", new byte[] {1, 2}));
            });
    invoke(-1, id, 1);
    Failure unknown = bus.nextFailure();
    assertThat(unknown.getCode()).isEqualTo(FailureCode.UNKNOWN_METHOD);
    assertThat(unknown.getExecuted()).isEqualTo(Execution.NO);
    invoke(-2, id, 2);
    Failure refused = bus.nextFailure();
    assertThat(refused.getCode()).isEqualTo(FailureCode.REFUSED);
    assertThat(refused.getExecuted()).isEqualTo(Execution.NO);
    assertThat(refused.getRetryAfterMillis()).isEqualTo(70);
    invoke(-3, id, 3);
    Failure failed = bus.nextFailure();
    assertThat(failed.getCode()).isEqualTo(FailureCode.FAILED);
    assertThat(failed.getType()).isEqualTo("no-such-order");
    assertThat(failed.getMessage()).isEqualTo("order 3");
    assertThat(failed.getDetails().remaining()).isEqualTo(2);
    assertThat(failures).isEmpty();
  }

  @Test
  void aReplyThatIsTooBigIsAFailure() throws Exception {
    EventBusClient client = connect();
    long id =
        serve(
            client,
            ONE,
            invocation -> CompletableFuture.completedFuture(Event.of(new byte[2 * 1024 * 1024])));
    invoke(-1, id, 1);
    Failure failure = bus.nextFailure();
    assertThat(failure.getCode()).isEqualTo(FailureCode.TOO_BIG);
    assertThat(failure.getExecuted()).isEqualTo(Execution.YES);
  }

  @Test
  void aRequestThatComesAgainWhileItIsWorkedOnGetsTheSameAnswer() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ServiceOptions.DEFAULT, holding);
    invoke(-1, id, 1);
    Held first = take(held);
    invoke(-2, id, 1);
    first.answer().complete(Event.of("!"));
    assertThat(List.of(bus.nextReply().call(), bus.nextReply().call())).containsExactly(-1L, -2L);
    assertThat(held).isEmpty();
  }

  @Test
  void aReplyIsRememberedForARequestThatComesAgain() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ServiceOptions.DEFAULT.withRememberReplies(2), holding);
    for (int i = 1; i <= 3; i++) {
      invoke(-i, id, i);
      take(held).answer().complete(Event.of("answer " + i));
      bus.nextReply();
    }
    invoke(-4, id, 3);
    FakeBus.Answered again = bus.nextReply();
    assertThat(again.call()).isEqualTo(-4);
    assertThat(again.payload()).isEqualTo("answer 3");
    assertThat(held).isEmpty();
    // Forgotten.
    invoke(-5, id, 1);
    assertThat(take(held).invocation().request()).isEqualTo(1);
  }

  @Test
  void boundsWaitingRequestsInBytes() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ONE.withBufferBytes(1_200), holding);
    for (int i = 1; i <= 4; i++) {
      invoke(-i, id, i);
    }
    Failure refused = bus.nextFailure();
    assertThat(refused.getCall()).isEqualTo(-4);
    assertThat(refused.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(refused.getExecuted()).isEqualTo(Execution.NO);
  }

  @Test
  void anUnknownServiceIsRefused() throws Exception {
    connect();
    invoke(-1, 99, 1);
    Failure refused = bus.nextFailure();
    assertThat(refused.getCode()).isEqualTo(FailureCode.REFUSED);
    assertThat(refused.getExecuted()).isEqualTo(Execution.NO);
  }

  @Test
  void aPausedServiceSaysSoAlsoOnANewConnection() throws Exception {
    EventBusClient client = connect();
    Service service = client.serve("orders", ONE, holding);
    get(service.ready());
    long id = ((Register) bus.next(TypeCode.REGISTER).content()).getId();
    service.pause();
    assertThat(bus.next(TypeCode.CAPACITY).content()).isEqualTo(new Capacity(id, 0));
    bus.awaitSent();
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    Register again = (Register) bus.next(TypeCode.REGISTER).content();
    assertThat(again.getConcurrency()).isZero();
    service.resume();
    assertThat(bus.next(TypeCode.CAPACITY).content()).isEqualTo(new Capacity(id, 1));
  }

  @Test
  void anAnswerToALostConnectionIsDroppedAndARepetitionJoins() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ServiceOptions.DEFAULT, holding);
    invoke(-1, id, 1);
    invoke(-2, id, 2);
    Held gone = take(held);
    Held joined = take(held);
    bus.awaitSent();
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    bus.next(TypeCode.REGISTER);
    gone.answer().complete(Event.of("for nobody"));
    invoke(-7, id, joined.invocation().request());
    joined.answer().complete(Event.of("for the repetition"));
    FakeBus.Answered reply = bus.nextReply();
    assertThat(reply.call()).isEqualTo(-7);
    assertThat(reply.payload()).isEqualTo("for the repetition");
    assertThat(bus.arrivals).isEmpty();
  }

  @Test
  void closingAServiceWaitsForItsAnswers() throws Exception {
    EventBusClient client = connect();
    Service service = client.serve("orders", ONE, holding);
    get(service.ready());
    long id = ((Register) bus.next(TypeCode.REGISTER).content()).getId();
    invoke(-1, id, 1);
    invoke(-2, id, 2);
    CompletionStage<Boolean> closed = service.close(Duration.ofSeconds(30));
    bus.next(TypeCode.UNREGISTER);
    take(held).answer().complete(Event.of("1"));
    bus.nextReply();
    assertThat(closed.toCompletableFuture()).isNotDone();
    take(held).answer().complete(Event.of("2"));
    bus.nextReply();
    assertThat(get(closed)).isTrue();
    assertThat(service.close(Duration.ZERO)).isSameAs(closed);
  }

  @Test
  void closingAServiceCancelsWhatTakesTooLong() throws Exception {
    EventBusClient client = connect();
    Service service = client.serve("orders", ONE, holding);
    get(service.ready());
    long id = ((Register) bus.next(TypeCode.REGISTER).content()).getId();
    invoke(-1, id, 1);
    invoke(-2, id, 2);
    Held first = take(held);
    CompletionStage<Boolean> closed = service.close(Duration.ofSeconds(3));
    bus.next(TypeCode.UNREGISTER);
    bus.awaitSent();
    scheduler.advance(Duration.ofSeconds(3));
    assertThat(get(closed)).isFalse();
    assertThat(first.invocation().isCancelled()).isTrue();
    Failure refused = bus.nextFailure();
    assertThat(refused.getCall()).isEqualTo(-2);
    assertThat(refused.getExecuted()).isEqualTo(Execution.NO);
  }

  @Test
  void anExecutorThatRefusesRefusesRequests() throws Exception {
    EventBusClient client =
        connect(
            builder ->
                builder.executor(
                    task -> {
                      if (Thread.currentThread().getName().equals("reader")) {
                        throw new java.util.concurrent.RejectedExecutionException("full");
                      }
                      task.run();
                    }));
    long id = serve(client, ONE, holding);
    Thread reader = new Thread(() -> invoke(-1, id, 1), "reader");
    reader.start();
    Failure refused = bus.nextFailure();
    assertThat(refused.getCode()).isEqualTo(FailureCode.OVERLOADED);
    assertThat(refused.getExecuted()).isEqualTo(Execution.NO);
    reader.join(10_000);
    // The slot is free again.
    invoke(-2, id, 2);
    take(held);
  }

  @Test
  void anInterceptorStandsAroundTheHandler() throws Exception {
    EventBusClient client =
        connect(
            builder ->
                builder.callInterceptor(
                    new CallInterceptor() {
                      @Override
                      public CompletionStage<Event> aroundHandler(
                          Invocation invocation, RequestHandler handler) throws Exception {
                        return handler
                            .onRequest(invocation)
                            .thenApply(event -> Event.of("<" + event.text() + ">"));
                      }
                    }));
    long id = serve(client, ONE, invocation -> answer("x"));
    invoke(-1, id, 1);
    assertThat(bus.nextReply().payload()).isEqualTo("<x>");
  }

  @Test
  void handlersStandStillWhileTheirAnswersCannotBeSent() throws Exception {
    EventBusClient client = connect();
    byte[] big = new byte[600_000];
    Service service =
        client.serve("orders", ONE, invocation -> CompletableFuture.completedFuture(Event.of(big)));
    get(service.ready());
    long id = ((Register) bus.next(TypeCode.REGISTER).content()).getId();
    bus.awaitSent();
    bus.holdsSends = true;
    for (int i = 1; i <= 30; i++) {
      invoke(-i, id, i);
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (service.stats().running() > 0 && System.nanoTime() - deadline < 0) {
      Thread.onSpinWait();
    }
    // Four MiB, and the data in the network.
    assertThat(service.stats().answered()).isLessThan(10);
    assertThat(service.stats().waiting()).isGreaterThan(20);
    bus.holdsSends = false;
    bus.connection().releaseSend();
    for (int i = 1; i <= 30; i++) {
      bus.nextReply();
    }
    assertThat(service.stats().answered()).isEqualTo(30);
  }

  @Test
  void aHandlerMayCloseItsClient() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    long id =
        serve(
            client,
            ONE,
            invocation -> {
              closed.complete(client.close(Duration.ofSeconds(30)));
              return answer("closed");
            });
    bus.answersBarriers = true;
    invoke(-1, id, 1);
    assertThat(get(closed)).isTrue();
  }

  @Test
  void manyRequestsAreAnsweredInARow() throws Exception {
    EventBusClient client = connect();
    long id = serve(client, ONE, invocation -> answer(invocation.event().text()));
    byte[][] frames = new byte[500][];
    for (int i = 0; i < frames.length; i++) {
      frames[i] = FakeBus.invoke(-1 - i, id, 60_000, i + 1, 0, "r" + i);
    }
    bus.connection().message(frames);
    for (int i = 0; i < frames.length; i++) {
      assertThat(bus.nextReply().payload()).isEqualTo("r" + i);
    }
  }
}
