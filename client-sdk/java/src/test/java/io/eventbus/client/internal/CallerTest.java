package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.CallInterceptor;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.RetryPolicy;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.FailureCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests, against a bus without a network and with a clock that stands. */
@Timeout(180)
class CallerTest extends ClientFixture {
  private static final RequestOptions TWO_SECONDS =
      RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(2));
  private static final RequestOptions IDEMPOTENT = TWO_SECONDS.withIdempotent(true);

  private static <E extends Throwable> E failure(CompletableFuture<Response> future, Class<E> type)
      throws Exception {
    return type.cast(failure(future));
  }

  private void loseConnection() throws Exception {
    bus.awaitSent();
    bus.connection().end(1006, "");
  }

  private void reconnect() {
    scheduler.advance(Duration.ofMillis(100));
  }

  @Test
  void aRequestIsAnswered() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer =
        client.request("orders", Event.of("what?"), TWO_SECONDS.withMethod("get").withMember(4));
    assertThat(bus.nextRequest())
        .isEqualTo(new FakeBus.Asked(1, "orders", "get", 2000, false, 0, 4, "what?"));
    bus.connection().message(FakeBus.reply(1, "that"));
    Response response = get(answer);
    assertThat(response.text()).isEqualTo("that");
    assertThat(response.member()).isEqualTo(9);
    assertThat(response.queued()).isEqualTo(Duration.ofNanos(3_000));
    assertThat(response.handled()).isEqualTo(Duration.ofNanos(4_000));
  }

  @Test
  void theThreadThatReadsWakesTheOneThatCalls() throws Exception {
    // An executor that runs nothing: only the connection's thread can end the wait.
    EventBusClient client = connect();
    CompletableFuture<Response> called =
        CompletableFuture.supplyAsync(() -> client.call("orders", Event.of("?"), TWO_SECONDS));
    bus.connection().message(FakeBus.reply(bus.nextRequest().call(), "!"));
    assertThat(get(called).text()).isEqualTo("!");
  }

  @Test
  void anInterruptedCallIsCancelledAndTheThreadStaysInterrupted() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<EventBusException> thrown = new CompletableFuture<>();
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                client.call("orders", Event.of("?"));
              } catch (EventBusException e) {
                thrown.complete(e);
              }
              interrupted.complete(Thread.currentThread().isInterrupted());
            });
    caller.start();
    long call = bus.nextRequest().call();
    caller.interrupt();
    assertThat(interrupted.get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(thrown.get(60, TimeUnit.SECONDS))
        .isInstanceOfSatisfying(
            CallFailed.Cancelled.class, e -> assertThat(e.executed()).isEqualTo(Execution.UNKNOWN));
    assertThat(((Cancel) bus.next(TypeCode.CANCEL).content()).getCall()).isEqualTo(call);
  }

  @Test
  void refusesIllegalRequestsAtOnce() throws Exception {
    EventBusClient client = connect();
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> client.request("$SYS.x", Event.of("?")));
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(
            () ->
                client.serve(
                    "a.>", invocation -> CompletableFuture.completedFuture(Event.of("!"))));
    assertThatExceptionOfType(EventBusException.PayloadTooBig.class)
        .isThrownBy(() -> client.request("orders", Event.of(new byte[2 * 1024 * 1024])));
  }

  @Test
  void aFailureSaysWhetherItWasExecuted() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> none = client.request("orders", Event.of("1"));
    CompletableFuture<Response> lost = client.request("orders", Event.of("2"));
    CompletableFuture<Response> forbidden = client.request("orders", Event.of("3"));
    FakeBus.Connection connection = bus.connection();
    bus.nextRequest();
    bus.nextRequest();
    bus.nextRequest();
    connection.message(
        FakeBus.failure(1, FailureCode.NO_MEMBER, io.eventbus.schema.Execution.NO, 0),
        FakeBus.failure(2, FailureCode.MEMBER_LOST, io.eventbus.schema.Execution.UNKNOWN, 0),
        FakeBus.failure(3, FailureCode.FORBIDDEN, io.eventbus.schema.Execution.NO, 0));
    CallFailed first = failure(none, CallFailed.NoMember.class);
    assertThat(first.executed()).isEqualTo(Execution.NO);
    assertThat(first.retryable()).isTrue();
    assertThat(first).as("names the service").hasMessage("orders: told by the bus");
    CallFailed second = failure(lost, CallFailed.MemberLost.class);
    assertThat(second.executed()).isEqualTo(Execution.UNKNOWN);
    assertThat(second.retryable()).isFalse();
    CallFailed.NotServed third = failure(forbidden, CallFailed.NotServed.class);
    assertThat(third.code()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(third.retryable()).isFalse();
    assertThat(third).hasMessage("told by the bus");
  }

  @Test
  void cancellingTheFutureCancelsTheRequest() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("?"));
    bus.nextRequest();
    answer.cancel(false);
    assertThat(((Cancel) bus.next(TypeCode.CANCEL).content()).getCall()).isEqualTo(1);
    // Too late.
    bus.connection().message(FakeBus.reply(1, "!"));
    assertThat(answer).isCancelled();
  }

  @Test
  void aTimeOutOfTheApplicationCancelsTheRequest() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer =
        client.request("orders", Event.of("?")).orTimeout(1, TimeUnit.MILLISECONDS);
    bus.nextRequest();
    assertThat(((Cancel) bus.next(TypeCode.CANCEL).content()).getCall()).isEqualTo(1);
    assertThatExceptionOfType(CompletionException.class).isThrownBy(answer::join);
  }

  @Test
  void theBusHasFiftyMillisecondsMoreForItsVerdict() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("?"), TWO_SECONDS);
    bus.nextRequest();
    bus.awaitSent();
    scheduler.advance(Duration.ofMillis(2_040));
    assertThat(answer).isNotDone();
    scheduler.advance(Duration.ofMillis(20));
    CallFailed late = failure(answer, CallFailed.DeadlineExceeded.class);
    assertThat(late.executed()).isEqualTo(Execution.UNKNOWN);
    assertThat(late).hasMessageContaining("orders did not answer within 2s");
  }

  @Test
  void nothingIsLeftOfRequestsThatAreAnswered() throws Exception {
    EventBusClient client = connect();
    int before = scheduler.timers();
    for (int i = 1; i <= 100; i++) {
      CompletableFuture<Response> answer = client.request("orders", Event.of("?"), TWO_SECONDS);
      bus.connection().message(FakeBus.reply(bus.nextRequest().call(), "!"));
      get(answer);
    }
    // A single timer for all of them.
    assertThat(scheduler.timers()).isLessThanOrEqualTo(before + 1);
    scheduler.advance(Duration.ofSeconds(3));
    assertThat(scheduler.timers()).isLessThanOrEqualTo(before);
  }

  @Test
  void aRequestWaitsForAConnectionWithinItsDeadline() throws Exception {
    EventBusClient client = connect();
    loseConnection();
    CompletableFuture<Response> kept = client.request("orders", Event.of("kept"), TWO_SECONDS);
    CompletableFuture<Response> late =
        client.request("orders", Event.of("late"), TWO_SECONDS.withTimeout(Duration.ofMillis(50)));
    reconnect();
    FakeBus.Asked asked = bus.nextRequest();
    assertThat(asked.payload()).isEqualTo("kept");
    assertThat(asked.timeoutMillis()).isEqualTo(1900);
    CallFailed expired = failure(late, CallFailed.DeadlineExceeded.class);
    assertThat(expired.executed()).isEqualTo(Execution.NO);
    assertThat(expired).hasMessageContaining("was not sent in time");
    bus.connection().message(FakeBus.reply(asked.call(), "!"));
    assertThat(get(kept).text()).isEqualTo("!");
  }

  @Test
  void boundsWaitingRequestsInBytes() throws Exception {
    EventBusClient client = connect(builder -> builder.callBufferBytes(4 * 1024));
    loseConnection();
    CompletableFuture<Response> first = client.request("orders", Event.of(new byte[3_000]));
    CallFailed refused =
        failure(client.request("orders", Event.of(new byte[3_000])), CallFailed.Overloaded.class);
    assertThat(refused.executed()).isEqualTo(Execution.NO);
    assertThat(refused).hasMessageContaining("callBufferBytes");
    first.cancel(false);
    assertThat(client.request("orders", Event.of(new byte[3_000]))).isNotDone();
  }

  @Test
  void aLostConnectionLeavesItOpenWhetherARequestWasExecuted() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("?"));
    bus.nextRequest();
    loseConnection();
    CallFailed lost = failure(answer, CallFailed.BusLost.class);
    assertThat(lost.executed()).isEqualTo(Execution.UNKNOWN);
    assertThat(lost.retryable()).isFalse();
  }

  @Test
  void anIdempotentRequestIsRepeatedAfterALostConnection() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("?"), IDEMPOTENT);
    assertThat(bus.nextRequest().attempt()).isZero();
    FakeBus.Connection old = bus.connection();
    loseConnection();
    reconnect();
    FakeBus.Asked again = bus.nextRequest();
    assertThat(again.call()).isEqualTo(1);
    assertThat(again.attempt()).isEqualTo(1);
    assertThat(again.payload()).isEqualTo("?");
    // The member may be gone now, but the first one may have executed it.
    bus.connection()
        .message(FakeBus.failure(1, FailureCode.FORBIDDEN, io.eventbus.schema.Execution.NO, 0));
    assertThat(failure(answer, CallFailed.NotServed.class).executed()).isEqualTo(Execution.UNKNOWN);
    assertThat(old.isOver()).isTrue();
  }

  @Test
  void aRepetitionWaitsAsTheBusAsks() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer =
        client.request("orders", Event.of("?"), IDEMPOTENT.withRetry(RetryPolicy.STANDARD));
    bus.nextRequest();
    bus.awaitSent();
    bus.connection()
        .message(FakeBus.failure(1, FailureCode.OVERLOADED, io.eventbus.schema.Execution.NO, 300));
    scheduler.advance(Duration.ofMillis(300));
    assertThat(bus.arrivals).as("then comes the pause of the policy, with its jitter").isEmpty();
    scheduler.advance(Duration.ofMillis(50));
    assertThat(bus.nextRequest().attempt()).isEqualTo(1);
    bus.awaitSent();
    bus.connection()
        .message(FakeBus.failure(1, FailureCode.OVERLOADED, io.eventbus.schema.Execution.NO, 0));
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.nextRequest().attempt()).isEqualTo(2);
    bus.awaitSent();
    bus.connection()
        .message(FakeBus.failure(1, FailureCode.OVERLOADED, io.eventbus.schema.Execution.NO, 7));
    CallFailed end = failure(answer, CallFailed.Overloaded.class);
    assertThat(end.executed()).isEqualTo(Execution.NO);
    assertThat(end.retryAfter()).isEqualTo(Duration.ofMillis(7));
  }

  @Test
  void retriesRefusedRequestsUntilTheTimeout() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("what"), TWO_SECONDS);
    for (int attempt = 0; attempt < 5; attempt++) {
      FakeBus.Asked asked = bus.nextRequest();
      assertThat(asked.attempt()).isEqualTo(attempt);
      assertThat(asked.payload()).isEqualTo("what");
      bus.awaitSent();
      bus.connection()
          .message(
              FakeBus.failure(
                  asked.call(), FailureCode.OVERLOADED, io.eventbus.schema.Execution.NO, 20));
      scheduler.advance(Duration.ofMillis(20 + (50L << attempt)));
    }
    // No time is left for the request.
    FakeBus.Asked last = bus.nextRequest();
    bus.awaitSent();
    bus.connection()
        .message(
            FakeBus.failure(
                last.call(),
                FailureCode.OVERLOADED,
                io.eventbus.schema.Execution.NO,
                Long.MAX_VALUE));
    failure(answer, CallFailed.Overloaded.class);
    CompletableFuture<Response> never =
        client.request("orders", Event.of("?"), TWO_SECONDS.withRetry(RetryPolicy.NONE));
    bus.nextRequest();
    bus.connection()
        .message(FakeBus.failure(2, FailureCode.OVERLOADED, io.eventbus.schema.Execution.NO, 20));
    failure(never, CallFailed.Overloaded.class);
  }

  @Test
  void retriesNonIdempotentRequestsOnlyByChoiceAndIfSafe() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> once = client.request("orders", Event.of("?"), TWO_SECONDS);
    bus.nextRequest();
    bus.connection()
        .message(FakeBus.failure(1, FailureCode.NO_MEMBER, io.eventbus.schema.Execution.NO, 0));
    failure(once, CallFailed.NoMember.class);
    CompletableFuture<Response> chosen =
        client.request("orders", Event.of("?"), TWO_SECONDS.withRetry(RetryPolicy.STANDARD));
    bus.nextRequest();
    bus.awaitSent();
    bus.connection()
        .message(FakeBus.failure(2, FailureCode.NO_MEMBER, io.eventbus.schema.Execution.NO, 0));
    scheduler.advance(Duration.ofMillis(50));
    assertThat(bus.nextRequest().attempt()).isEqualTo(1);
    bus.connection()
        .message(
            FakeBus.failure(2, FailureCode.MEMBER_LOST, io.eventbus.schema.Execution.UNKNOWN, 0));
    failure(chosen, CallFailed.MemberLost.class);
  }

  @Test
  void aBusWithoutServicesFailsRequestsAtOnce() throws Exception {
    bus.knowsServices = false;
    EventBusClient client = connect();
    CallFailed.NotServed refused =
        failure(client.request("orders", Event.of("?")), CallFailed.NotServed.class);
    assertThat(refused.code()).isEqualTo(ErrorCode.UNSUPPORTED);
    assertThat(refused.executed()).isEqualTo(Execution.NO);
    bus.knowsServices = true;
    loseConnection();
    reconnect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("?"));
    bus.connection().message(FakeBus.reply(bus.nextRequest().call(), "!"));
    assertThat(get(answer).text()).isEqualTo("!");
  }

  @Test
  void closingWaitsForAnswersAndFailsWhatHasNone() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Response> answer = client.request("orders", Event.of("?"));
    CompletableFuture<Response> none = client.request("orders", Event.of("?"));
    bus.nextRequest();
    bus.nextRequest();
    CompletableFuture<Boolean> closed =
        CompletableFuture.supplyAsync(() -> client.close(Duration.ofMillis(200)));
    bus.connection().message(FakeBus.reply(1, "!"));
    assertThat(get(answer).text()).isEqualTo("!");
    assertThat(failure(none, CallFailed.Cancelled.class).executed()).isEqualTo(Execution.UNKNOWN);
    assertThat(closed.get(10, TimeUnit.SECONDS)).isFalse();
    assertThat(failure(client.request("orders", Event.of("?")), EventBusException.Closed.class))
        .hasMessageContaining("closed");
  }

  @Test
  void anInterceptorAddsHeaders() throws Exception {
    List<String> seen = new ArrayList<>();
    EventBusClient client =
        connect(
            builder ->
                builder.callInterceptor(
                    new CallInterceptor() {
                      @Override
                      public Event beforeSend(String service, RequestOptions options, Event event) {
                        seen.add(service + " " + options.method());
                        return Event.of(event.text() + " and more");
                      }
                    }));
    CompletableFuture<Response> unused =
        client.request("orders", Event.of("?"), TWO_SECONDS.withMethod("get"));
    assertThat(bus.nextRequest().payload()).isEqualTo("? and more");
    assertThat(seen).containsExactly("orders get");
    assertThat(unused).isNotDone();
  }

  @Test
  void requestsAndEventsTakeTurns() throws Exception {
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.send("t", Event.of("first"));
    bus.awaitPayload("first");
    List<CompletableFuture<Response>> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      answers.add(client.request("orders", Event.of("r" + i)));
      client.send("t", Event.of("e" + i));
    }
    bus.holdsSends = false;
    bus.connection().releaseSend();
    int message = 0;
    for (int i = 0; i < 10; i++) {
      FakeBus.Arrival asked = bus.next(TypeCode.REQUEST);
      assertThat(message == 0 || message == asked.message()).as("one message").isTrue();
      message = asked.message();
    }
    assertThat(answers).noneMatch(CompletableFuture::isDone);
  }
}
