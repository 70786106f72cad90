package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.Answer;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Callers and members at different buses of one cluster, with the real SDK. */
@ExtendWith(LeakWatch.class)
@Timeout(120)
class FarServicesIT {
  private static final RequestOptions TEN_SECONDS =
      RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));
  private static final String SENT = "eventbus_calls_sent_to_buses_total";

  private static FederatedBuses shared;

  private final Path root;

  FarServicesIT(@TempDir Path root) {
    this.root = root;
  }

  @BeforeAll
  static void start(@TempDir Path root) throws Exception {
    shared = FederatedBuses.start(root, 3, "listen.event-loops", "2");
  }

  @AfterEach
  void closeClients() {
    shared.closeClients();
  }

  @AfterAll
  static void close() {
    shared.close();
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static RequestHandler named(String name) {
    return invocation -> CompletableFuture.completedFuture(Event.of(name));
  }

  private static Service serve(EventBusClient client, String name, RequestHandler handler)
      throws Exception {
    return get(client.serve(name, ServiceOptions.DEFAULT, handler).ready());
  }

  private static CallFailed failure(CompletionStage<Response> stage) throws Exception {
    try {
      throw new AssertionError("answered: " + get(stage).text());
    } catch (ExecutionException e) {
      return (CallFailed) Objects.requireNonNull(e.getCause());
    }
  }

  @Test
  void aMemberElsewhereAnswersAsSoonAsItIsReady() throws Exception {
    EventBusClient caller = shared.client(0);
    for (int i = 0; i < 50; i++) {
      Service service = serve(shared.client(1 + i % 2), "far.ready" + i, named("far"));
      assertThat(get(caller.request("far.ready" + i, Event.of("x"), TEN_SECONDS)).text())
          .isEqualTo("far");
      if (i % 3 == 0) {
        get(service.close(Duration.ofSeconds(5)));
        assertThat(failure(caller.request("far.ready" + i, Event.of("x"), TEN_SECONDS)))
            .isInstanceOf(CallFailed.NoMember.class)
            .returns(Execution.NO, CallFailed::executed);
      }
    }
  }

  @Test
  void idleMembersHereAreTakenFirst() throws Exception {
    serve(shared.client(0), "far.near", named("here"));
    serve(shared.client(1), "far.near", named("there"));
    EventBusClient caller = shared.client(0);
    double before = shared.metric(shared.bus(0), SENT);
    for (int i = 0; i < 500; i++) {
      assertThat(get(caller.request("far.near", Event.of("x"), TEN_SECONDS)).text())
          .isEqualTo("here");
    }
    assertThat(shared.metric(shared.bus(0), SENT)).isEqualTo(before);
  }

  /** Load of so many requests at once, each followed by another, until it is stopped. */
  private static final class Load {
    final AtomicInteger begun = new AtomicInteger();
    final AtomicInteger answered = new AtomicInteger();
    final BlockingQueue<Throwable> faults = new LinkedBlockingQueue<>();
    private final EventBusClient caller;
    private final String service;
    private volatile boolean stopped;

    Load(EventBusClient caller, String service, int atOnce) {
      this.caller = caller;
      this.service = service;
      for (int i = 0; i < atOnce; i++) {
        next();
      }
    }

    private void next() {
      if (stopped) {
        return;
      }
      String text = Integer.toString(begun.getAndIncrement());
      var unused =
          caller
              .request(service, Event.of(text), TEN_SECONDS)
              .whenComplete(
                  (response, failure) -> {
                    if (failure != null) {
                      faults.add(failure);
                    }
                    answered.incrementAndGet();
                    next();
                  });
    }

    void await(int more) {
      int until = answered.get() + more;
      WatchedBus.await(() -> answered.get() >= until, () -> answered.get() + " of " + until);
    }

    void stop() {
      stopped = true;
      WatchedBus.await(
          () -> answered.get() == begun.get(), () -> answered.get() + " of " + begun.get());
      assertThat(faults).isEmpty();
    }
  }

  @Test
  void noCallFailsAsLongAsOneMemberIsThere() throws Exception {
    EventBusClient[] members = {shared.client(1), shared.client(2)};
    Service last = serve(members[0], "far.turns", named("0"));
    Load load = new Load(shared.client(0), "far.turns", 8);
    for (int round = 1; round <= 20; round++) {
      Service next = serve(members[round % 2], "far.turns", named("" + round));
      load.await(20);
      get(last.close(Duration.ofSeconds(5)));
      last = next;
    }
    load.stop();
  }

  @Test
  void aCallForOneMemberFindsItWhereverItIs() throws Exception {
    serve(shared.client(1), "far.one", named("1"));
    serve(shared.client(2), "far.one", named("2"));
    EventBusClient caller = shared.client(0);
    Map<Long, String> names = new ConcurrentHashMap<>();
    for (int i = 0; i < 200 && names.size() < 2; i++) {
      List<CompletionStage<Response>> calls = new ArrayList<>();
      for (int j = 0; j < 20; j++) {
        calls.add(caller.request("far.one", Event.of("x"), TEN_SECONDS));
      }
      for (CompletionStage<Response> call : calls) {
        Response response = get(call);
        names.put(response.member(), response.text());
      }
    }
    assertThat(names).hasSize(2);
    // Also from a bus where neither has answered anybody.
    for (EventBusClient asking : List.of(caller, shared.client(2))) {
      for (Map.Entry<Long, String> member : names.entrySet()) {
        Response response =
            get(asking.request("far.one", Event.of("x"), TEN_SECONDS.withMember(member.getKey())));
        assertThat(response.text()).isEqualTo(member.getValue());
      }
    }
    assertThat(failure(caller.request("far.one", Event.of("x"), TEN_SECONDS.withMember(12345))))
        .isInstanceOf(CallFailed.NoMember.class);
  }

  private static CompletableFuture<List<Answer>> gather(EventBusClient from, String service) {
    List<Answer> answers = new ArrayList<>();
    CompletableFuture<List<Answer>> all = new CompletableFuture<>();
    from.gather(service, Event.of("?"), TEN_SECONDS)
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
              }

              @Override
              public void onNext(Answer answer) {
                answers.add(answer);
              }

              @Override
              public void onError(Throwable failure) {
                all.completeExceptionally(failure);
              }

              @Override
              public void onComplete() {
                all.complete(answers);
              }
            });
    return all;
  }

  @Test
  void aRequestToAllMembersAsksThoseOfTheCallersBus() throws Exception {
    serve(shared.client(1), "far.all", named("there"));
    EventBusClient caller = shared.client(0);
    assertThatThrownBy(() -> get(gather(caller, "far.all")))
        .cause()
        .isInstanceOf(CallFailed.NoMember.class)
        .hasMessageContaining("at the caller's bus");
    serve(shared.client(0), "far.all", named("here"));
    assertThat(get(gather(caller, "far.all")))
        .extracting(answer -> ((Answer.Replied) answer).response().text())
        .containsExactly("here");
  }

  @Test
  void aCancelledCallIsCancelledAtTheMember() throws Exception {
    CompletableFuture<Void> cancelled = new CompletableFuture<>();
    CompletableFuture<Void> begun = new CompletableFuture<>();
    serve(
        shared.client(1),
        "far.cancel",
        invocation -> {
          invocation.onCancel(() -> cancelled.complete(null));
          begun.complete(null);
          return new CompletableFuture<>();
        });
    CompletableFuture<Response> call =
        shared.client(0).request("far.cancel", Event.of("x"), TEN_SECONDS).toCompletableFuture();
    get(begun);
    call.cancel(false);
    get(cancelled);
  }

  @Test
  void earlierServicesAreFoundAtANewBus() throws Exception {
    try (FederatedBuses buses = new FederatedBuses(root)) {
      buses.add();
      serve(buses.client(0), "early", named("early"));
      buses.add();
      // Before the bus has heard of the peer's services, it waits for them.
      RequestOptions waits = TEN_SECONDS.withWaitFor(Duration.ofSeconds(10));
      EventBusClient late = buses.client(1);
      assertThat(get(late.request("early", Event.of("x"), waits)).text()).isEqualTo("early");
      serve(late, "back", named("back"));
      assertThat(get(buses.client(0).request("back", Event.of("x"), TEN_SECONDS)).text())
          .isEqualTo("back");
    }
  }

  @Test
  void aStreamThatIsCutLosesNothingAndDoublesNothing() throws Exception {
    try (CuttableProxy way = new CuttableProxy();
        FederatedBuses buses = new FederatedBuses(root)) {
      buses.add("listen.event-loops", "2");
      way.to(buses.add("cluster.advertised", "127.0.0.1:" + way.port()).linkPort());
      buses.awaitLanes();
      Map<String, AtomicInteger> executed = new ConcurrentHashMap<>();
      serve(
          buses.client(1),
          "cut",
          invocation -> {
            String text = invocation.event().text();
            executed.computeIfAbsent(text, t -> new AtomicInteger()).incrementAndGet();
            return CompletableFuture.completedFuture(Event.of(text));
          });
      Load load = new Load(buses.client(0), "cut", 32);
      for (int round = 0; round < 3; round++) {
        load.await(200);
        CompletableFuture<Void> healed = new CompletableFuture<>();
        way.cut();
        CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS)
            .execute(
                () -> {
                  way.heal();
                  healed.complete(null);
                });
        get(healed);
      }
      load.await(200);
      load.stop();
      assertThat(executed).hasSize(load.begun.get());
      assertThat(executed.values()).allMatch(times -> times.get() == 1);
      assertThat(buses.metric(buses.bus(0), "eventbus_call_stream_connects_total"))
          .isGreaterThan(2);
    }
  }

  @Test
  void callsOfAKilledBusAreRepeatedOrUnknown() throws Exception {
    try (FederatedBuses buses = FederatedBuses.start(root, 2, "federation.peer-timeout", "1s")) {
      BusProcess third =
          BusProcess.start(
              TestBus.member(
                  root,
                  "bus-z",
                  "listen.port",
                  "0",
                  "cluster.join",
                  "127.0.0.1:" + buses.bus(0).linkPort()));
      try {
        for (int i = 0; i < 2; i++) {
          buses.awaitLanes(buses.bus(i), 4);
        }
        CompletableFuture<Void> begun = new CompletableFuture<>();
        AtomicInteger held = new AtomicInteger();
        EventBusClient there = buses.client(third.uri());
        serve(
            there,
            "kill",
            invocation -> {
              if (held.incrementAndGet() == 4) {
                begun.complete(null);
              }
              return new CompletableFuture<>();
            });
        EventBusClient caller = buses.client(0);
        List<CompletionStage<Response>> repeated = new ArrayList<>();
        List<CompletionStage<Response>> once = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
          repeated.add(caller.request("kill", Event.of("x"), TEN_SECONDS.withIdempotent(true)));
          once.add(caller.request("kill", Event.of("x"), TEN_SECONDS));
        }
        get(begun);
        serve(buses.client(1), "kill", named("other"));
        third.kill();
        // Its member does not come back elsewhere.
        there.close(Duration.ZERO);
        for (CompletionStage<Response> call : repeated) {
          assertThat(get(call).text()).isEqualTo("other");
        }
        for (CompletionStage<Response> call : once) {
          assertThat(failure(call))
              .isInstanceOf(CallFailed.MemberLost.class)
              .returns(Execution.UNKNOWN, CallFailed::executed);
        }
      } finally {
        third.kill();
      }
    }
  }
}
