package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Execution;
import io.eventbus.client.Invocation;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Callers and members of the SDK at one bus. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class SdkServicesIT {
  private static final RequestOptions TEN_SECONDS =
      RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));

  /**
   * Number of concurrent requests: fewer than a bus allows for members that it does not know yet.
   */
  private static final int AT_ONCE = 32;

  private static WatchedBus bus;

  private final List<EventBusClient> clients = new ArrayList<>();
  private final BlockingQueue<Held> held = new LinkedBlockingQueue<>();
  private final RequestHandler holding =
      invocation -> {
        CompletableFuture<Event> answer = new CompletableFuture<>();
        held.add(new Held(invocation, answer));
        return answer;
      };

  private record Held(Invocation invocation, CompletableFuture<Event> answer) {}

  @BeforeAll
  static void start() throws IOException {
    bus = WatchedBus.alone("listen.event-loops", "2");
  }

  @AfterAll
  static void stop() throws Exception {
    bus.close();
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
  }

  private EventBusClient client() {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Held taken() throws InterruptedException {
    return Objects.requireNonNull(held.poll(60, TimeUnit.SECONDS), "no request within 60 s");
  }

  private static CallFailed failure(CompletableFuture<Response> future) throws Exception {
    try {
      throw new AssertionError("answered: " + get(future));
    } catch (ExecutionException e) {
      return (CallFailed) Objects.requireNonNull(e.getCause());
    }
  }

  private static Service serve(
      EventBusClient client, String name, ServiceOptions options, RequestHandler handler)
      throws Exception {
    return get(client.serve(name, options, handler).ready());
  }

  @Test
  void thousandsOfRequestsAreAnsweredByTheMembersTheyWentTo() throws Exception {
    AtomicInteger atWork = new AtomicInteger();
    BlockingQueue<String> faults = new LinkedBlockingQueue<>();
    for (int i = 0; i < 2; i++) {
      // Each at a handler of its own, which is never at more than four.
      AtomicInteger here = new AtomicInteger();
      serve(
          client(),
          "it.echo",
          ServiceOptions.DEFAULT.withConcurrency(4),
          invocation -> {
            if (here.incrementAndGet() > 4) {
              faults.add("more than 4 at work");
            }
            atWork.incrementAndGet();
            Event answer = Event.of("re: " + invocation.event().text());
            here.decrementAndGet();
            return CompletableFuture.completedFuture(answer);
          });
    }
    EventBusClient caller = client();
    Deque<CompletableFuture<Response>> answers = new ArrayDeque<>();
    for (int i = 0; i < 2_000; i++) {
      answers.add(caller.request("it.echo", Event.of("r" + i), TEN_SECONDS));
      if (i >= AT_ONCE) {
        assertThat(get(answers.remove()).text()).isEqualTo("re: r" + (i - AT_ONCE));
      }
    }
    for (CompletableFuture<Response> answer : answers) {
      get(answer);
    }
    assertThat(caller.call("it.echo", Event.of("last"), TEN_SECONDS).text()).isEqualTo("re: last");
    assertThat(atWork.get()).isEqualTo(2_001);
    assertThat(faults).isEmpty();
  }

  @Test
  void bigRequestsAndAnswersArrive() throws Exception {
    serve(
        client(),
        "it.big",
        ServiceOptions.DEFAULT,
        invocation -> CompletableFuture.completedFuture(invocation.event()));
    byte[] big = new byte[900_000];
    big[899_999] = 7;
    Response response = client().call("it.big", Event.of(big), TEN_SECONDS);
    assertThat(response.event().payload()).isEqualTo(big);
  }

  @Test
  void aServiceWithoutMembersFailsAtOnceOrWaitsForOne() throws Exception {
    EventBusClient caller = client();
    CallFailed none = failure(caller.request("it.late", Event.of("?"), TEN_SECONDS));
    assertThat(none).isInstanceOf(CallFailed.NoMember.class);
    assertThat(none.executed()).isEqualTo(Execution.NO);
    CompletableFuture<Response> waits =
        caller.request("it.late", Event.of("?"), TEN_SECONDS.withWaitFor(Duration.ofSeconds(10)));
    serve(
        client(),
        "it.late",
        ServiceOptions.DEFAULT,
        invocation -> CompletableFuture.completedFuture(Event.of("!")));
    assertThat(get(waits).text()).isEqualTo("!");
  }

  @Test
  void theMemberThatAnsweredCanBeAskedAgain() throws Exception {
    for (String name : List.of("a", "b", "c")) {
      serve(
          client(),
          "it.pinned",
          ServiceOptions.DEFAULT,
          invocation -> CompletableFuture.completedFuture(Event.of(name)));
    }
    EventBusClient caller = client();
    Response first = caller.call("it.pinned", Event.of("?"), TEN_SECONDS);
    for (int i = 0; i < 10; i++) {
      Response again =
          caller.call("it.pinned", Event.of("?"), TEN_SECONDS.withMember(first.member()));
      assertThat(again.text()).isEqualTo(first.text());
    }
  }

  @Test
  void aHandlersWordsReachTheCaller() throws Exception {
    serve(
        client(),
        "it.rejects",
        ServiceOptions.DEFAULT,
        invocation -> {
          throw invocation.method().equals("get")
              ? Rejected.failed("no-such-order", "order 7", new byte[] {1, 2, 3})
              : Rejected.unknownMethod(invocation.method());
        });
    EventBusClient caller = client();
    Rejected failed =
        (Rejected)
            failure(caller.request("it.rejects", Event.of("?"), TEN_SECONDS.withMethod("get")));
    assertThat(failed.reason()).isEqualTo(Rejected.Reason.FAILED);
    assertThat(failed.type()).isEqualTo("no-such-order");
    assertThat(failed.details()).containsExactly(1, 2, 3);
    assertThat(failed.executed()).isEqualTo(Execution.YES);
    Rejected unknown =
        (Rejected)
            failure(caller.request("it.rejects", Event.of("?"), TEN_SECONDS.withMethod("put")));
    assertThat(unknown.reason()).isEqualTo(Rejected.Reason.UNKNOWN_METHOD);
    assertThat(unknown.executed()).isEqualTo(Execution.NO);
  }

  @Test
  void cancellingReachesTheHandler() throws Exception {
    serve(client(), "it.cancelled", ServiceOptions.DEFAULT, holding);
    CompletableFuture<Response> answer = client().request("it.cancelled", Event.of("?"));
    Held first = taken();
    CompletableFuture<Void> told = new CompletableFuture<>();
    first.invocation().onCancel(() -> told.complete(null));
    answer.cancel(false);
    get(told);
    first.answer().complete(Event.of("for nobody"));
  }

  @Test
  void theBusSaysThatTheTimeIsOverAndWhetherItWasExecuted() throws Exception {
    serve(client(), "it.slow", ServiceOptions.DEFAULT.withConcurrency(1), holding);
    CallFailed late =
        failure(
            client()
                .request(
                    "it.slow",
                    Event.of("?"),
                    RequestOptions.DEFAULT.withTimeout(Duration.ofMillis(100))));
    assertThat(late).isInstanceOf(CallFailed.DeadlineExceeded.class);
    assertThat(late.executed()).isEqualTo(Execution.UNKNOWN);
    taken().answer().complete(Event.of("late"));
  }

  @Test
  void aMemberThatIsLostLeavesItOpenUnlessTheRequestIsIdempotent() throws Exception {
    EventBusClient dying = client();
    serve(dying, "it.lost", ServiceOptions.DEFAULT, holding);
    EventBusClient caller = client();
    CompletableFuture<Response> once = caller.request("it.lost", Event.of("once"), TEN_SECONDS);
    taken();
    CompletableFuture<Response> again =
        caller.request("it.lost", Event.of("again"), TEN_SECONDS.withIdempotent(true));
    taken();
    serve(
        client(),
        "it.lost",
        ServiceOptions.DEFAULT,
        invocation ->
            CompletableFuture.completedFuture(Event.of("attempt " + invocation.attempt())));
    dying.close(Duration.ZERO);
    CallFailed lost = failure(once);
    assertThat(lost).isInstanceOf(CallFailed.MemberLost.class);
    assertThat(lost.executed()).isEqualTo(Execution.UNKNOWN);
    assertThat(get(again).text()).isEqualTo("attempt 1");
  }

  @Test
  void aServiceThatIsClosedAnswersWhatItHasAndOthersTakeTheRest() throws Exception {
    Service leaving = serve(client(), "it.leaves", ServiceOptions.DEFAULT, holding);
    EventBusClient caller = client();
    CompletableFuture<Response> last = caller.request("it.leaves", Event.of("?"), TEN_SECONDS);
    Held request = taken();
    CompletionStage<Boolean> closed = leaving.close(Duration.ofSeconds(20));
    serve(
        client(),
        "it.leaves",
        ServiceOptions.DEFAULT,
        invocation -> CompletableFuture.completedFuture(Event.of("the other")));
    request.answer().complete(Event.of("the last"));
    assertThat(get(last).text()).isEqualTo("the last");
    assertThat(get(closed)).isTrue();
    assertThat(caller.call("it.leaves", Event.of("?"), TEN_SECONDS).text()).isEqualTo("the other");
  }

  @Test
  void aPausedMemberGetsNothing() throws Exception {
    Service paused = serve(client(), "it.paused", ServiceOptions.DEFAULT, holding);
    paused.pause();
    EventBusClient caller = client();
    CompletableFuture<Response> waits =
        caller.request("it.paused", Event.of("?"), TEN_SECONDS.withWaitFor(Duration.ofSeconds(10)));
    assertThat(held.poll(100, TimeUnit.MILLISECONDS)).isNull();
    paused.resume();
    taken().answer().complete(Event.of("!"));
    assertThat(get(waits).text()).isEqualTo("!");
  }

  @Test
  void aClientServesANameOnce() throws Exception {
    EventBusClient client = client();
    serve(client, "it.once", ServiceOptions.DEFAULT, holding);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> serve(client, "it.once", ServiceOptions.DEFAULT, holding))
        .satisfies(
            e ->
                assertThat(e.getCause())
                    .isInstanceOfSatisfying(
                        EventBusException.Refused.class,
                        refused ->
                            assertThat(refused.code())
                                .isEqualTo(ErrorCode.DUPLICATE_SUBSCRIPTION)));
  }
}
