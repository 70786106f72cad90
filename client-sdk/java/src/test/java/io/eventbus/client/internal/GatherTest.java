package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.Answer;
import io.eventbus.client.CallInterceptor;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests to all members, against a bus without a network and with a clock that stands. */
@Timeout(180)
class GatherTest extends ClientFixture {
  private static final RequestOptions TWO_SECONDS =
      RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(2));

  private EventBusClient connect(int bufferBytes) throws Exception {
    return connect(settings -> settings.callBufferBytes(bufferBytes));
  }

  /** Subscriber that records its calls. */
  private static final class Seen implements Flow.Subscriber<Answer> {
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
    private final long demand;

    Seen(long demand) {
      this.demand = demand;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription.complete(given);
      if (demand > 0) {
        given.request(demand);
      }
    }

    @Override
    public void onNext(Answer answer) {
      told.add(
          answer instanceof Answer.Replied replied
              ? replied.member() + ": " + replied.response().text()
              : answer.member()
                  + ": "
                  + ((Answer.Failed) answer).failure().getClass().getSimpleName()
                  + " "
                  + ((Answer.Failed) answer).failure().executed());
    }

    @Override
    public void onError(Throwable failure) {
      told.add(failure.getClass().getSimpleName());
    }

    @Override
    public void onComplete() {
      told.add("complete");
    }

    String next() throws InterruptedException {
      return String.valueOf(told.poll(60, TimeUnit.SECONDS));
    }
  }

  private Seen gather(EventBusClient from, long demand) throws Exception {
    Seen seen = new Seen(demand);
    from.gather("orders", Event.of("what?"), TWO_SECONDS).subscribe(seen);
    assertThat(bus.nextRequest().service()).isEqualTo("orders");
    return seen;
  }

  @Test
  void eachMembersAnswerComesAndTheLastOneEndsIt() throws Exception {
    Seen seen = gather(connect(1 << 20), Long.MAX_VALUE);
    bus.connection().message(FakeBus.reply(1, 5, true, "a"));
    assertThat(seen.next()).isEqualTo("5: a");
    bus.connection()
        .message(FakeBus.failure(1, 6, true, FailureCode.MEMBER_LOST, Execution.UNKNOWN, 0));
    assertThat(seen.next()).isEqualTo("6: MemberLost UNKNOWN");
    bus.connection().message(FakeBus.reply(1, 7, false, "c"));
    assertThat(seen.next()).isEqualTo("7: c");
    assertThat(seen.next()).isEqualTo("complete");
    // The number is free: later frames for it concern nobody.
    bus.connection().message(FakeBus.reply(1, 8, false, "d"));
    assertThat(seen.told).isEmpty();
  }

  @Test
  void theLastAnswerMayBeAFailureOfOneMember() throws Exception {
    Seen seen = gather(connect(1 << 20), Long.MAX_VALUE);
    bus.connection().message(FakeBus.failure(1, 6, false, FailureCode.TIMEOUT, Execution.NO, 0));
    assertThat(seen.next()).isEqualTo("6: DeadlineExceeded NO");
    assertThat(seen.next()).isEqualTo("complete");
  }

  @Test
  void aFailureOfTheWholeRequestIsAnError() throws Exception {
    Seen seen = gather(connect(1 << 20), Long.MAX_VALUE);
    bus.connection().message(FakeBus.failure(1, 0, false, FailureCode.NO_MEMBER, Execution.NO, 0));
    assertThat(seen.next()).isEqualTo("NoMember");
  }

  @Test
  void answersWaitForDemand() throws Exception {
    Seen seen = gather(connect(1 << 20), 1);
    bus.connection().message(FakeBus.reply(1, 5, true, "a"));
    bus.connection().message(FakeBus.reply(1, 6, false, "b"));
    assertThat(seen.next()).isEqualTo("5: a");
    assertThat(seen.told).isEmpty();
    seen.subscription.get().request(5);
    assertThat(seen.next()).isEqualTo("6: b");
    assertThat(seen.next()).isEqualTo("complete");
  }

  @Test
  void answersThatNobodyTakesAreBounded() throws Exception {
    Seen seen = gather(connect(64 * 1024), 0);
    String big = "x".repeat(40_000);
    bus.connection().message(FakeBus.reply(1, 5, true, big));
    bus.connection().message(FakeBus.reply(1, 6, true, big));
    assertThat(((Cancel) bus.next(TypeCode.CANCEL).content()).getCall()).isEqualTo(1);
    seen.subscription.get().request(Long.MAX_VALUE);
    assertThat(seen.next()).isEqualTo("5: " + big);
    assertThat(seen.next()).isEqualTo("BufferFull");
  }

  @Test
  void cancellingTellsTheBus() throws Exception {
    Seen seen = gather(connect(1 << 20), Long.MAX_VALUE);
    seen.subscription.get().cancel();
    assertThat(((Cancel) bus.next(TypeCode.CANCEL).content()).getCall()).isEqualTo(1);
    bus.connection().message(FakeBus.reply(1, 5, true, "a"));
    assertThat(seen.told).isEmpty();
  }

  @Test
  void aLostConnectionEndsItAndNothingIsSentAgain() throws Exception {
    EventBusClient from = connect(1 << 20);
    Seen seen = new Seen(Long.MAX_VALUE);
    from.gather("orders", Event.of("x"), TWO_SECONDS.withIdempotent(true)).subscribe(seen);
    assertThat(bus.nextRequest().idempotent()).isFalse();
    bus.connection().message(FakeBus.reply(1, 5, true, "a"));
    assertThat(seen.next()).isEqualTo("5: a");
    bus.awaitSent();
    bus.connection().end(1006, "");
    assertThat(seen.next()).isEqualTo("BusLost");
  }

  @Test
  void theDeadlineEndsIt() throws Exception {
    Seen seen = gather(connect(1 << 20), Long.MAX_VALUE);
    bus.awaitSent();
    scheduler.advance(Duration.ofMillis(2_050));
    assertThat(seen.next()).isEqualTo(CallFailed.DeadlineExceeded.class.getSimpleName());
  }

  @Test
  void namesAreChecked() throws Exception {
    EventBusClient from = connect(1 << 20);
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> from.gather("$bus.x", Event.of("x"), TWO_SECONDS));
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> from.broadcast("$x", Event.of("x")));
  }

  @Test
  void whateverAnInterceptorThrowsEndsTheRequest() throws Exception {
    EventBusClient client =
        connect(
            settings ->
                settings.callInterceptor(
                    new CallInterceptor() {
                      @Override
                      public Event beforeSend(String service, RequestOptions options, Event event) {
                        throw new IllegalStateException("no");
                      }
                    }));
    Seen gathered = new Seen(Long.MAX_VALUE);
    client.gather("orders", Event.of("x"), TWO_SECONDS).subscribe(gathered);
    assertThat(gathered.next()).isEqualTo("IllegalStateException");
    CompletableFuture<Throwable> streamed = new CompletableFuture<>();
    client
        .requestStream("orders", Event.of("x"))
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription given) {
                given.request(1);
              }

              @Override
              public void onNext(Response item) {}

              @Override
              public void onError(Throwable failure) {
                streamed.complete(failure);
              }

              @Override
              public void onComplete() {}
            });
    assertThat(get(streamed)).isInstanceOf(IllegalStateException.class);
  }
}
