package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ClientState;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventStream;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.client.SendResult;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.WhenFull;
import io.eventbus.schema.Ack;
import io.eventbus.server.BusServer;
import io.eventbus.testing.TestPorts;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Java SDK against a real bus, over real sockets. */
@Timeout(120)
class SdkIT {
  private static final Pattern CLIENT_THREADS =
      Pattern.compile("eventbus-(conductor|sender|handler|io|connect)");

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      if (open.get(i) instanceof EventBusClient client) {
        client.close(Duration.ZERO);
      } else {
        open.get(i).close();
      }
    }
  }

  private BusServer bus(String... settings) throws IOException {
    BusServer bus = TestBus.start(settings);
    open.add(bus);
    return bus;
  }

  private EventBusClient client(ClientBuilder builder) {
    EventBusClient client = builder.connect();
    open.add(client);
    return client;
  }

  private EventBusClient client(BusServer bus) {
    return client(EventBusClient.builder().url(bus.uri()));
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Waits for something that no callback tells. */
  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    CountDownLatch never = new CountDownLatch(1);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not within 30 s: " + what);
      }
      never.await(5, TimeUnit.MILLISECONDS);
    }
  }

  @Test
  void anEventArrivesWithAllItsParts() throws Exception {
    BusServer bus = bus();
    EventBusClient client = client(bus);
    BlockingQueue<ReceivedEvent> events = new LinkedBlockingQueue<>();
    get(client.subscribe("weather.*", events::add).ready());
    Instant time = Instant.parse("2026-11-21T08:00:00.123456Z");
    Published published =
        get(
            client.publish(
                "weather.oslo",
                Event.builder("cold").key("oslo").header("unit", "C").publishedAt(time).build()));
    ReceivedEvent event = events.poll(60, TimeUnit.SECONDS);
    assertThat(event).isNotNull();
    if (event != null) {
      assertThat(event.topic()).isEqualTo("weather.oslo");
      assertThat(event.text()).isEqualTo("cold");
      assertThat(event.key()).isEqualTo("oslo");
      assertThat(event.headers()).containsExactly(Map.entry("unit", "C"));
      assertThat(event.publishedAt()).isEqualTo(time);
      assertThat(event.receivedAt()).isAfter(time);
      assertThat(event.producer()).isEqualTo(published.producer());
      assertThat(event.sequence()).isEqualTo(1);
      assertThat(event.schema()).isZero();
    }
  }

  @Test
  void recordsAreDecodedByTheirSchema() throws Exception {
    EventBusClient client = client(bus());
    BlockingQueue<Ack> records = new LinkedBlockingQueue<>();
    get(client.subscribe("acks", Ack.class, (ack, event) -> records.add(ack)).ready());
    Ack ack = new Ack("a", 1L, 2L);
    get(client.publish("acks", ack));
    assertThat(records.poll(60, TimeUnit.SECONDS)).isEqualTo(ack);
  }

  @Test
  void theOrderOfEachPublisherAndTopicIsKeptAndNothingIsMissing() throws Exception {
    BusServer bus = bus();
    Heard heard = new Heard();
    EventBusClient subscriber = client(EventBusClient.builder().url(bus.uri()).listener(heard));
    Map<String, Long> last = new ConcurrentHashMap<>();
    AtomicInteger received = new AtomicInteger();
    AtomicInteger outOfOrder = new AtomicInteger();
    get(
        subscriber
            .subscribe(
                "order.>",
                event -> {
                  long before =
                      last.merge(event.producer() + event.topic(), event.sequence(), (a, b) -> b);
                  long expected = Long.parseLong(event.text());
                  if (event.sequence() != expected || before != event.sequence()) {
                    outOfOrder.incrementAndGet();
                  }
                  received.incrementAndGet();
                })
            .ready());
    int publishers = 3;
    int topics = 7;
    int events = 2_000;
    List<CompletableFuture<Void>> done = new ArrayList<>();
    for (int p = 0; p < publishers; p++) {
      EventBusClient publisher = client(bus);
      done.add(
          CompletableFuture.runAsync(
              () -> {
                for (int n = 1; n <= events; n++) {
                  for (int t = 0; t < topics; t++) {
                    String text = Integer.toString(n);
                    if (n % 3 == 0) {
                      publisher.publish("order." + t, text);
                    } else {
                      publisher.send("order." + t, text);
                    }
                  }
                }
                publisher.flush(Duration.ofSeconds(60));
              }));
    }
    for (CompletableFuture<Void> one : done) {
      one.get(90, TimeUnit.SECONDS);
    }
    await("all events", () -> received.get() == publishers * topics * events);
    assertThat(outOfOrder).hasValue(0);
    assertThat(heard.gaps).isEmpty();
    assertThat(last).hasSize(publishers * topics);
  }

  @Test
  void anAddressThatDoesNotAnswerIsPassedOver() throws Exception {
    int closed = TestPorts.find();
    BusServer bus = bus();
    EventBusClient client =
        client(EventBusClient.builder().url("ws://127.0.0.1:" + closed + "/bus").url(bus.uri()));
    assertThat(client.connection().orElseThrow().url()).isEqualTo(bus.uri());
  }

  @Test
  void aServerThatNeverAnswersIsGivenUpInTime() throws Exception {
    try (ServerSocket mute = new ServerSocket(0)) {
      assertThatExceptionOfType(EventBusException.class)
          .isThrownBy(
              () ->
                  EventBusClient.builder()
                      .url("ws://127.0.0.1:" + mute.getLocalPort() + "/bus")
                      .connectTimeout(Duration.ofMillis(500))
                      .connect())
          .withMessageContaining("within 500ms");
    }
  }

  @Test
  void aWrongTokenIsRefusedForGood() throws Exception {
    BusServer bus = bus("auth.token", "right-token-right-token");
    assertThatExceptionOfType(EventBusException.Refused.class)
        .isThrownBy(() -> EventBusClient.builder().url(bus.uri()).token("wrong").connect())
        .matches(e -> e.code() == ErrorCode.UNAUTHENTICATED && !e.retryable());
    EventBusClient right =
        client(EventBusClient.builder().url(bus.uri()).token("right-token-right-token"));
    assertThat(right.state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void membersOfAGroupShareTheEvents() throws Exception {
    BusServer bus = bus();
    SubscribeOptions workers = SubscribeOptions.DEFAULT.withGroup("workers");
    Set<Long> sequences = ConcurrentHashMap.newKeySet();
    AtomicInteger total = new AtomicInteger();
    List<Subscription> members = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      members.add(
          get(
              client(bus)
                  .subscribe(
                      "jobs.>",
                      workers,
                      event -> {
                        sequences.add(event.sequence());
                        total.incrementAndGet();
                      })
                  .ready()));
    }
    EventBusClient publisher = client(bus);
    for (int i = 0; i < 300; i++) {
      get(publisher.publish("jobs.one", "job"));
    }
    await("300 events", () -> total.get() >= 300);
    publisher.flush(Duration.ofSeconds(30));
    assertThat(total).hasValue(300);
    assertThat(sequences).hasSize(300);
    await(
        "each member has had some",
        () -> members.stream().allMatch(member -> member.counters().received() > 0));
  }

  @Test
  void eventsArePulled() throws Exception {
    EventBusClient client = client(bus());
    try (EventStream stream = client.stream("pull")) {
      get(stream.subscription().ready());
      for (int i = 1; i <= 100; i++) {
        client.send("pull", "event " + i);
      }
      for (int i = 1; i <= 100; i++) {
        ReceivedEvent event = stream.poll(Duration.ofSeconds(30));
        assertThat(event).isNotNull();
        assertThat(event == null ? "" : event.text()).isEqualTo("event " + i);
      }
    }
  }

  @Test
  void aFlowSubscriberSetsThePace() throws Exception {
    EventBusClient client = client(bus());
    List<String> got = new ArrayList<>();
    CompletableFuture<Void> all = new CompletableFuture<>();
    client
        .publisher("flow")
        .subscribe(
            new Flow.Subscriber<>() {
              private Flow.Subscription demand = new NoDemand();

              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                demand = subscription;
                demand.request(1);
              }

              @Override
              public void onNext(ReceivedEvent event) {
                got.add(event.text());
                if (got.size() == 500) {
                  all.complete(null);
                }
                demand.request(1);
              }

              @Override
              public void onError(Throwable failure) {
                all.completeExceptionally(failure);
              }

              @Override
              public void onComplete() {}
            });
    // Subscribed and published over one connection: the bus hears them in this order.
    for (int i = 0; i < 500; i++) {
      client.send("flow", Integer.toString(i));
    }
    get(all);
    assertThat(got).hasSize(500).startsWith("0", "1").endsWith("499");
  }

  private static final class NoDemand implements Flow.Subscription {
    @Override
    public void request(long n) {}

    @Override
    public void cancel() {}
  }

  /** Tests the whole chain: handler, client, TCP, bus, TCP, client, publisher. */
  @Test
  void aSubscriberThatStopsHoldsThePublisherBackAndLosesNothing() throws Exception {
    BusServer bus =
        bus(
            "limits.payload-bytes",
            "64KiB",
            "limits.message-bytes",
            "128KiB",
            "limits.queue-bytes",
            "256KiB",
            "timeouts.slow-subscriber",
            "60s");
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger received = new AtomicInteger();
    Heard heard = new Heard();
    EventBusClient subscriber = client(EventBusClient.builder().url(bus.uri()).listener(heard));
    Subscription slow =
        get(
            subscriber
                .subscribe(
                    "slow",
                    SubscribeOptions.DEFAULT.withBufferBytes(64 * 1024),
                    event -> {
                      gate.await();
                      received.incrementAndGet();
                    })
                .ready());
    EventBusClient publisher =
        client(
            EventBusClient.builder()
                .url(bus.uri())
                .outboundBufferBytes(256 * 1024)
                .whenFull(WhenFull.BLOCK)
                .blockTimeout(Duration.ofSeconds(2)));
    byte[] payload = new byte[8 * 1024];
    int accepted = 0;
    // Far more than all buffers on the way together; without back-pressure it would go through.
    int max = 16 * 1024;
    while (accepted < max && publisher.send("slow", payload) == SendResult.ACCEPTED) {
      accepted++;
    }
    assertThat(accepted).as("the publisher was held back").isLessThan(max);
    // A single WebSocket message may go over the bound, and another is in the reader's hands.
    assertThat(slow.counters().bufferedBytes()).isLessThan(512 * 1024);
    assertThat(received).hasValue(0);
    int sent = accepted;
    gate.countDown();
    await("all accepted events", () -> received.get() == sent);
    assertThat(heard.gaps).isEmpty();
    assertThat(heard.ends).isEmpty();
  }

  @Test
  void closeDrains() throws Exception {
    BusServer bus = bus();
    AtomicInteger received = new AtomicInteger();
    EventBusClient subscriber = client(bus);
    get(subscriber.subscribe("drain", event -> received.incrementAndGet()).ready());
    EventBusClient publisher = EventBusClient.builder().url(bus.uri()).connect();
    List<CompletionStage<Published>> stages = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      stages.add(publisher.publish("drain", "x"));
      publisher.send("drain", "y");
    }
    assertThat(publisher.close(Duration.ofSeconds(30))).isTrue();
    for (CompletionStage<Published> stage : stages) {
      get(stage);
    }
    await("all events", () -> received.get() == 20_000);
    assertThat(subscriber.close(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void aBusThatIsRestartedIsFoundAgain() throws Exception {
    int port = TestPorts.find();
    BusServer first = TestBus.start("listen.port", Integer.toString(port));
    Heard heard = new Heard();
    AtomicInteger received = new AtomicInteger();
    EventBusClient client = client(EventBusClient.builder().url(first.uri()).listener(heard));
    get(client.subscribe("again", event -> received.incrementAndGet()).ready());
    long producer = heard.nextConnection().producer();
    first.close();
    assertThat(heard.nextEnd()).isEqualTo("1001 again");
    CompletionStage<Published> meanwhile = client.publish("again", "buffered");
    BusServer second = TestBus.start("listen.port", Integer.toString(port));
    open.add(second);
    assertThat(heard.nextConnection().producer()).isEqualTo(producer);
    assertThat(get(meanwhile).producer()).isEqualTo(producer);
    await("the event", () -> received.get() == 1);
  }

  @Test
  void aCloseReleasesEverything() throws Exception {
    BusServer bus = bus();
    for (int i = 0; i < 3; i++) {
      EventBusClient client = EventBusClient.builder().url(bus.uri()).name("leak").connect();
      get(client.subscribe("x", event -> {}).ready());
      get(client.publish("x", "y"));
      assertThat(client.close(Duration.ofSeconds(30))).isTrue();
    }
    await(
        "threads of the clients end",
        () ->
            threads().stream()
                .noneMatch(
                    name ->
                        CLIENT_THREADS.matcher(name).lookingAt()
                            || name.startsWith("tyrus-")
                            || name.startsWith("Grizzly")));
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .collect(Collectors.toList());
  }

  @Test
  void aLargePayloadGoesBothWays() throws Exception {
    EventBusClient client = client(bus());
    BlockingQueue<ReceivedEvent> events = new LinkedBlockingQueue<>();
    get(client.subscribe("big", events::add).ready());
    byte[] payload = new byte[1024 * 1024];
    new java.util.Random(1).nextBytes(payload);
    for (int i = 0; i < 5; i++) {
      get(client.publish("big", payload));
    }
    for (int i = 0; i < 5; i++) {
      ReceivedEvent event = events.poll(60, TimeUnit.SECONDS);
      assertThat(event).isNotNull();
      assertThat(event == null ? new byte[0] : event.payload()).isEqualTo(payload);
    }
  }

  @Test
  void handlersDoNotRunOnInputOutputThreads() throws Exception {
    EventBusClient client = client(EventBusClient.builder().url(bus().uri()).name("where"));
    CompletableFuture<String> handler = new CompletableFuture<>();
    get(client.subscribe("x", event -> handler.complete(Thread.currentThread().getName())).ready());
    CompletableFuture<String> stage = new CompletableFuture<>();
    client
        .publish("x", "y")
        .whenComplete((done, error) -> stage.complete(Thread.currentThread().getName()));
    assertThat(get(handler)).startsWith("eventbus-handler-");
    Map<String, String> seen = new HashMap<>();
    seen.put("stage", get(stage));
    assertThat(seen.get("stage")).doesNotStartWith("eventbus-io").doesNotStartWith("Grizzly");
  }

  @Test
  void refusalsOfTheBusAreNotRetried() throws Exception {
    URI uri = bus().uri();
    assertThatExceptionOfType(EventBusException.Refused.class)
        .isThrownBy(
            () ->
                EventBusClient.builder()
                    .url("ws://" + uri.getAuthority() + "/elsewhere")
                    .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true))
                    .connect())
        .satisfies(refused -> assertThat(refused.retryable()).isFalse());
  }

  @Test
  void tlsIsSpokenAndTheCertificateChecked() throws Exception {
    try (TestCertificate certificate = TestCertificate.make()) {
      BusServer bus =
          bus(
              "tls.certificate",
              certificate.certificatePem().toString(),
              "tls.key",
              certificate.keyPem().toString());
      URI uri = bus.uri();
      assertThat(uri.getScheme()).isEqualTo("wss");
      EventBusClient client =
          client(EventBusClient.builder().url(uri).sslContext(certificate.trusting()));
      BlockingQueue<String> events = new LinkedBlockingQueue<>();
      get(client.subscribe("tls", event -> events.add(event.text())).ready());
      get(client.publish("tls", "secret"));
      assertThat(events.poll(60, TimeUnit.SECONDS)).isEqualTo("secret");
      SSLContext before = SSLContext.getDefault();
      SSLContext.setDefault(certificate.trusting());
      try {
        get(client(EventBusClient.builder().url(uri)).publish("tls", "by default"));
      } finally {
        SSLContext.setDefault(before);
      }
      assertThat(events.poll(60, TimeUnit.SECONDS)).isEqualTo("by default");
      assertThatExceptionOfType(EventBusException.class)
          .as("a client that does not trust the certificate")
          .isThrownBy(
              () ->
                  EventBusClient.builder()
                      .url(uri)
                      .connectTimeout(Duration.ofSeconds(5))
                      .connect());
      assertThatExceptionOfType(EventBusException.class)
          .as("a certificate for another host")
          .isThrownBy(
              () ->
                  EventBusClient.builder()
                      .url("wss://localhost:" + uri.getPort() + "/bus")
                      .sslContext(certificate.trusting())
                      .connectTimeout(Duration.ofSeconds(5))
                      .connect());
    }
  }
}
