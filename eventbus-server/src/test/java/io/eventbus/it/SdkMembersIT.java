package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.Answer;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Events to all members of a service of the SDK, and presence events, at one bus. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class SdkMembersIT {
  private static final RequestOptions TEN_SECONDS =
      RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));
  private static final Pattern TYPE = Pattern.compile("\"type\":\"(\\w+)\"");

  private static WatchedBus bus;

  private final List<EventBusClient> clients = new ArrayList<>();

  @BeforeAll
  static void start() throws IOException {
    bus = WatchedBus.alone("listen.event-loops", "2", "services.rejoin", "1m");
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

  private static String take(BlockingQueue<String> queue) throws InterruptedException {
    return Objects.requireNonNull(queue.poll(60, TimeUnit.SECONDS), "nothing within 60 s");
  }

  private static RequestHandler answering(String text) {
    return invocation -> CompletableFuture.completedFuture(Event.of(text));
  }

  private static Service member(
      EventBusClient client, String name, int concurrency, BlockingQueue<String> broadcasts)
      throws Exception {
    Service service =
        client.serve(name, ServiceOptions.DEFAULT.withConcurrency(concurrency), answering(name));
    service.onBroadcast(event -> broadcasts.add(event.text()));
    return get(service.ready());
  }

  @Test
  void broadcastsReachEveryMemberInOrder() throws Exception {
    BlockingQueue<String> one = new LinkedBlockingQueue<>();
    BlockingQueue<String> present = new LinkedBlockingQueue<>();
    member(client(), "it.room", 4, one);
    Service left = member(client(), "it.room", 0, present);
    EventBusClient from = client();
    for (int i = 0; i < 100; i++) {
      get(from.broadcast("it.room", Event.of("e" + i)));
    }
    for (int i = 0; i < 100; i++) {
      assertThat(take(one)).isEqualTo("e" + i);
      assertThat(take(present)).isEqualTo("e" + i);
    }
    assertThat(get(left.close(Duration.ofSeconds(10)))).isTrue();
    get(from.broadcast("it.room", Event.of("after")));
    assertThat(take(one)).isEqualTo("after");
    assertThat(present).isEmpty();
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> from.publish("$SRV.it.room", Event.of("x")).toCompletableFuture());
  }

  /** Subscriber that collects gathered answers. */
  private static final class Collected implements Flow.Subscriber<Answer> {
    final List<Answer> answers = new ArrayList<>();
    final CompletableFuture<List<Answer>> all = new CompletableFuture<>();

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
  }

  private static List<Answer> gather(EventBusClient from, String service) throws Exception {
    Collected collected = new Collected();
    from.gather(service, Event.of("?"), TEN_SECONDS).subscribe(collected);
    return get(collected.all);
  }

  @Test
  void everyMemberIsAskedAndTheEndIsExact() throws Exception {
    for (int i = 0; i < 5; i++) {
      get(client().serve("it.all", answering("re " + i)).ready());
    }
    get(
        client()
            .serve("it.all", ServiceOptions.DEFAULT.withConcurrency(0), answering("never"))
            .ready());
    EventBusClient from = client();
    for (int round = 0; round < 20; round++) {
      List<Answer> answers = gather(from, "it.all");
      assertThat(answers)
          .extracting(answer -> ((Answer.Replied) answer).response().text())
          .containsExactlyInAnyOrder("re 0", "re 1", "re 2", "re 3", "re 4");
      assertThat(answers).extracting(Answer::member).doesNotHaveDuplicates();
    }
  }

  @Test
  void aMemberThatIsLostIsAFailureOfItsOwn() throws Exception {
    CompletableFuture<Void> begun = new CompletableFuture<>();
    EventBusClient lost = client();
    get(
        lost.serve(
                "it.lossy",
                invocation -> {
                  begun.complete(null);
                  return new CompletableFuture<>();
                })
            .ready());
    get(client().serve("it.lossy", answering("here")).ready());
    Collected collected = new Collected();
    client().gather("it.lossy", Event.of("?"), TEN_SECONDS).subscribe(collected);
    get(begun);
    lost.close(Duration.ZERO);
    List<Answer> answers = get(collected.all);
    assertThat(answers).hasSize(2);
    assertThat(answers).filteredOn(Answer.Replied.class::isInstance).hasSize(1);
    assertThat(answers)
        .filteredOn(Answer.Failed.class::isInstance)
        .extracting(answer -> ((Answer.Failed) answer).failure().getClass().getSimpleName())
        .containsExactly("MemberLost");
  }

  @Test
  void observersHearOfMembersAndNotOfTheirConnections() throws Exception {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    EventBusClient observer = client();
    get(observer.subscribe("$SYS.services.it.seen", event -> seen.add(type(event.text()))).ready());
    try (CuttableProxy proxy = new CuttableProxy()) {
      proxy.to(bus.uri().getPort());
      EventBusClient by =
          EventBusClient.builder()
              .url(URI.create("ws://127.0.0.1:" + proxy.port() + bus.uri().getPath()))
              .connect();
      clients.add(by);
      Service service = get(by.serve("it.seen", answering("x")).ready());
      assertThat(take(seen)).isEqualTo("joined");
      proxy.cut();
      proxy.heal();
      // Waits for the member to be back.
      RequestOptions patient = TEN_SECONDS.withIdempotent(true).withWaitFor(Duration.ofSeconds(10));
      assertThat(client().call("it.seen", Event.of("?"), patient).text()).isEqualTo("x");
      assertThat(get(service.close(Duration.ofSeconds(10)))).isTrue();
      assertThat(take(seen)).isEqualTo("left");
    }
  }

  private static String type(String json) {
    Matcher matcher = TYPE.matcher(json);
    assertThat(matcher.find()).as(json).isTrue();
    return matcher.group(1);
  }

  @Test
  void theBusAnswersWhoServes() throws Exception {
    get(
        client()
            .serve("it.known", ServiceOptions.DEFAULT.withVersion("1.7"), answering("x"))
            .ready());
    EventBusClient from = client();
    assertThat(from.call("$bus", Event.of(""), TEN_SECONDS.withMethod("services")).text())
        .contains("\"name\":\"it.known\",\"members\":1");
    assertThat(from.call("$bus", Event.of("it.known"), TEN_SECONDS.withMethod("service")).text())
        .contains("\"version\":\"1.7\"");
    assertThatExceptionOfType(EventBusException.CallFailed.Rejected.class)
        .isThrownBy(() -> from.call("$bus", Event.of("x"), TEN_SECONDS.withMethod("no")));
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> from.serve("$bus", answering("x")));
  }
}
