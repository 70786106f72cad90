package io.eventbus.it;

import static io.eventbus.it.DurableBuses.next;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.CliHarness;
import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Problem;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Durable topics of a bus with its real store, and of clients over sockets. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DurableTopicsIT {
  private final AtomicInteger names = new AtomicInteger();
  private final List<EventBusClient> clients = new ArrayList<>();
  private Path data = Path.of("");
  private BusServer bus;

  @BeforeAll
  void start(@TempDir Path directory) throws IOException {
    data = directory.resolve("data");
    bus = restart();
  }

  private BusServer restart() throws IOException {
    return TestBus.start(
        "durable.directory",
        data.toString(),
        "limits.payload-bytes",
        "64KiB",
        "limits.message-bytes",
        "128KiB",
        "limits.queue-bytes",
        "256KiB",
        "limits.block-stall-time",
        "200ms",
        "timeouts.shutdown",
        "1s");
  }

  @AfterAll
  void stop() {
    bus.close();
  }

  @AfterEach
  void closeClients() {
    clients.forEach(client -> client.close(Duration.ZERO));
    clients.clear();
  }

  private EventBusClient connect(URI uri) {
    return connect(EventBusClient.builder().url(uri));
  }

  private EventBusClient connect(ClientBuilder builder) {
    EventBusClient client = builder.connect();
    clients.add(client);
    return client;
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, SECONDS);
  }

  private static EventBusException.Refused refusal(CompletionStage<Published> stage)
      throws Exception {
    try {
      throw new AssertionError("stored: " + get(stage));
    } catch (ExecutionException e) {
      return (EventBusException.Refused) Objects.requireNonNull(e.getCause());
    }
  }

  /** Runs {@code eventbus journal}, and checks the exit code. */
  private String journal(int code, String... arguments) {
    CliHarness cli = new CliHarness();
    List<String> all = new ArrayList<>(List.of("journal"));
    all.addAll(List.of(arguments));
    all.add("--admin=127.0.0.1:" + bus.adminPort());
    assertThat(cli.run(all.toArray(new String[0]))).as(cli.out() + cli.err()).isEqualTo(code);
    return cli.out() + cli.err();
  }

  /** Creates a journal with a name of its own, for the topics below that name. */
  private String create(String... options) {
    String name = "j" + names.incrementAndGet();
    List<String> all = new ArrayList<>(List.of("create", name, "--filter=" + name + ".>"));
    all.addAll(List.of(options));
    journal(0, all.toArray(new String[0]));
    return name;
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + bus.adminPort() + "/api/v1/journals" + path))
                .timeout(Duration.ofSeconds(60))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode content(String journal) throws Exception {
    return new ObjectMapper().readTree(send("GET", "/" + journal).body()).path("content");
  }

  private double metric(String name) throws Exception {
    try (InputStream in =
        URI.create("http://127.0.0.1:" + bus.adminPort() + "/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no metric " + name));
    }
  }

  private void awaitLast(String journal, long position) throws Exception {
    long end = System.nanoTime() + SECONDS.toNanos(60);
    while (content(journal).path("lastPosition").asLong() < position) {
      assertThat(System.nanoTime()).as("not stored within 60 s").isLessThan(end);
    }
  }

  private static BlockingQueue<ReceivedEvent> subscribe(EventBusClient client, String filter)
      throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    get(client.subscribe(filter, received::add).ready());
    return received;
  }

  @Test
  void journalsAreMadeByTheAdministrationApiAndByTheCommandLine() throws Exception {
    assertThat(send("PUT", "/api?filters=api.%3E&max-age=7d&keep=latest").statusCode())
        .isEqualTo(200);
    String name = create("--max-bytes=1MiB");
    String list = journal(0, "list").replaceAll(" +", " ");
    assertThat(list)
        .contains(" api latest 7d - - api.>\n", " " + name + " all - 1048576 - " + name + ".>\n");
    assertThat(send("GET", "").body()).contains("\"name\":\"api\"", "\"name\":\"" + name + "\"");
    assertThat(journal(5, "create", "other", "--filter=" + name + ".a"))
        .contains("filter " + name + ".a has topics of the filter " + name + ".>");
    EventBusClient client = connect(bus.uri());
    assertThat(get(client.publish("api.a", "1")).position()).isEqualTo(1);
    assertThat(get(client.publish(name + ".a", "1")).position()).isEqualTo(1);
    assertThat(get(client.publish("other", "1")).position()).isZero();
  }

  @Test
  void anEventThatIsPublishedAgainAfterALostConnectionIsStoredOnce() throws Exception {
    String name = create();
    try (CuttableProxy proxy = new CuttableProxy()) {
      proxy.to(bus.uri().getPort());
      EventBusClient client = connect(through(proxy));
      Published first = get(client.publish(name + ".a", "first"));
      assertThat(first.position()).isEqualTo(1);
      assertThat(first.repeated()).isFalse();
      proxy.loseAnswers();
      CompletionStage<Published> second = client.publish(name + ".a", "second");
      awaitLast(name, 2);
      proxy.cut();
      proxy.heal();
      assertThat(get(second).repeated()).isTrue();
      assertThat(get(second).position()).isEqualTo(2);
      Published third = get(client.publish(name + ".a", "third"));
      assertThat(third.position()).isEqualTo(3);
      assertThat(third.repeated()).isFalse();
    }
    assertThat(content(name).path("events").asLong()).isEqualTo(3);
  }

  private ClientBuilder through(CuttableProxy proxy) {
    return EventBusClient.builder().url("ws://127.0.0.1:" + proxy.port() + bus.uri().getPath());
  }

  @Test
  void whatAProducerPublishesAgainUnderItsNameAfterARestartIsStoredOnce() throws Exception {
    String name = create();
    String topic = name + ".a";
    EventBusClient client = connect(bus.uri());
    get(client.publish(topic, "of nobody"));
    for (int number = 1; number <= 3; number++) {
      Published published = get(named(client, topic, number));
      assertThat(published.position()).isEqualTo(1 + number);
      assertThat(published.repeated()).isFalse();
    }
    client.close(Duration.ZERO);
    bus.close();
    bus = restart();

    EventBusClient next = connect(bus.uri());
    List<CompletionStage<Published>> again = new ArrayList<>();
    for (int number = 1; number <= 4; number++) {
      again.add(named(next, topic, number));
    }
    for (int number = 1; number <= 3; number++) {
      Published published = get(again.get(number - 1));
      assertThat(published.position()).isEqualTo(1 + number);
      assertThat(published.repeated()).isTrue();
    }
    assertThat(get(again.get(3)).position()).isEqualTo(5);
    assertThat(get(again.get(3)).repeated()).isFalse();
    // Numbers may be left out, and what the client publishes without a name is told apart.
    assertThat(get(next.publish(topic, "of nobody")).position()).isEqualTo(6);
    assertThat(get(named(next, topic, 8)).position()).isEqualTo(7);
    assertThat(refusal(named(next, topic, 6)).code()).isEqualTo(ErrorCode.SEQUENCE_GAP);
    assertThat(get(named(next, name + ".b", 6)).position()).isEqualTo(8);
    PublishOptions other = PublishOptions.producer("other", 6);
    assertThat(get(next.publish(topic, Event.of("x"), other)).repeated()).isFalse();
    assertThat(content(name).path("events").asLong()).isEqualTo(9);
    assertThat(refusal(named(next, "not." + topic, 1)).code()).isEqualTo(ErrorCode.NO_JOURNAL);
  }

  private static CompletionStage<Published> named(
      EventBusClient client, String topic, long number) {
    return client.publish(
        topic, Event.of("event " + number), PublishOptions.producer("outbox", number));
  }

  @Test
  void aRefusedNumberOfANameGetsTheSameAnswerInTheNextProgram() throws Exception {
    String topic = create() + ".a";
    EventBusClient client = connect(bus.uri());
    PublishOptions options = PublishOptions.producer("outbox", 1).withExpected(9);
    assertThat(refusal(client.publish(topic, Event.of("x"), options)).code())
        .isEqualTo(ErrorCode.EXPECTATION_FAILED);
    client.close(Duration.ZERO);
    EventBusClient next = connect(bus.uri());
    assertThat(refusal(named(next, topic, 1)).code()).isEqualTo(ErrorCode.EXPECTATION_FAILED);
    PublishOptions delayed = PublishOptions.producer("outbox", 2).withDelay(Duration.ofMillis(1));
    assertThat(get(next.publish(topic, Event.of("y"), delayed)).repeated()).isFalse();
    assertThat(get(next.publish(topic, Event.of("y"), delayed)).repeated()).isTrue();
  }

  @Test
  void anEventWithAnExpectationIsStoredOnlyIfItHolds() throws Exception {
    String topic = create() + ".a";
    EventBusClient client = connect(bus.uri());
    Event event = Event.of("x");
    assertThat(get(client.publish(topic, event, PublishOptions.expecting(0))).position())
        .isEqualTo(1);
    EventBusException.Refused refused =
        refusal(client.publish(topic, event, PublishOptions.expecting(0)));
    assertThat(refused.code()).isEqualTo(ErrorCode.EXPECTATION_FAILED);
    assertThat(refused.retryable()).isFalse();
    assertThat(refused).hasMessageContaining("last position of the topic: 1");
    assertThat(get(client.publish(topic, event, PublishOptions.expecting(1))).position())
        .isEqualTo(2);
    assertThat(refusal(client.publish("not." + topic, event, PublishOptions.expecting(0))).code())
        .isEqualTo(ErrorCode.NO_JOURNAL);
  }

  @Test
  void aFullJournalThatRefusesHasRoomAgainWhenItIsTrimmed() throws Exception {
    String name = create("--max-bytes=4KiB", "--full=refuse");
    EventBusClient client = connect(bus.uri());
    byte[] payload = new byte[1_000];
    long stored = 0;
    EventBusException.@Nullable Refused refused = null;
    while (refused == null && stored < 10) {
      try {
        stored = get(client.publish(name + ".a", payload)).position();
      } catch (ExecutionException e) {
        refused = (EventBusException.Refused) Objects.requireNonNull(e.getCause());
      }
    }
    assertThat(stored).isBetween(2L, 4L);
    EventBusException.Refused full = Objects.requireNonNull(refused);
    assertThat(full.code()).isEqualTo(ErrorCode.STORE_FULL);
    assertThat(full.retryable()).isTrue();
    assertThat(full).hasMessageContaining("bytes of").hasMessageContaining("at most 4096");
    assertThat(metric("eventbus_journal_refusals_total{code=\"store_full\"}")).isEqualTo(1);
    assertThat(metric("eventbus_journal_confirmations_total")).isPositive();
    journal(0, "trim", name, "--up-to=" + stored);
    assertThat(get(client.publish(name + ".a", payload)).position()).isEqualTo(stored + 1);
  }

  @Test
  void subscribersGetEachEventOnceInTheOrderOfPositions() throws Exception {
    String name = create();
    int events = 600;
    List<BlockingQueue<ReceivedEvent>> all = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      all.add(subscribe(connect(bus.uri()), name + ".>"));
    }
    try (RawClient raw = RawClient.connected(bus.uri())) {
      raw.subscribe(1, name + ".>");
      raw.subscribe(2, "end");
      List<EventBusClient> publishers = List.of(connect(bus.uri()), connect(bus.uri()));
      List<CompletableFuture<Published>> stored = new ArrayList<>();
      for (int i = 0; i < events; i++) {
        stored.add(
            publishers.get(i % 2).publish(name + "." + i % 7, "event " + i).toCompletableFuture());
      }
      for (CompletableFuture<Published> each : stored) {
        assertThat(each.get(60, SECONDS).position()).isBetween(1L, (long) events);
      }
      for (BlockingQueue<ReceivedEvent> received : all) {
        for (long position = 1; position <= events; position++) {
          assertThat(next(received).position()).isEqualTo(position);
        }
        assertThat(received).isEmpty();
      }
      List<Long> frames = new ArrayList<>();
      for (long position = 0; position < events; position = frames.get(frames.size() - 1)) {
        positions(raw, frames);
      }
      get(publishers.get(0).publish("end", "end"));
      assertThat(raw.expectDeliver().topic()).as("nothing comes twice").isEqualTo("end");
      assertThat(frames)
          .containsExactlyElementsOf(LongStream.rangeClosed(1, events).boxed().toList());
    }
  }

  @Test
  void aFullSubscriberHoldsUpTheOthersOfItsJournalForABoundedTime() throws Exception {
    String name = create();
    BlockingQueue<ReceivedEvent> received = subscribe(connect(bus.uri()), name + ".small");
    try (RawClient slow = RawClient.slow(bus.uri(), 8_192)) {
      slow.upgrade(bus.uri().getPath(), "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n").hello(null);
      slow.subscribe(1, name + ".large");
      EventBusClient publisher = connect(bus.uri());
      get(publisher.publish(name + ".small", "first"));
      assertThat(next(received).text()).isEqualTo("first");
      List<CompletionStage<Published>> stored = new ArrayList<>();
      // More than the buffers of the socket take.
      for (int i = 0; i < 200; i++) {
        stored.add(publisher.publish(name + ".large", new byte[60_000]));
      }
      stored.add(publisher.publish(name + ".small", "second"));
      for (CompletionStage<Published> each : stored) {
        // Held up by nobody.
        assertThat(get(each).position()).isPositive();
      }
      assertThat(next(received).text()).isEqualTo("second");
      boolean told = false;
      boolean gap = false;
      while (!told || !gap) {
        RawClient.BusFrame frame = slow.next();
        gap |= frame.typeCode() == TypeCode.GAP.code();
        if (frame.typeCode() == TypeCode.PROBLEM.code()) {
          assertThat(ControlFrames.problem(frame.buffer(), 0, frame.body().length).getMessage())
              .contains("limits.block-stall-time");
          told = true;
        }
      }
    }
  }

  /** Adds the positions of the next frame. */
  private static void positions(RawClient raw, List<Long> to) throws IOException {
    RawClient.BusFrame frame = raw.expect(TypeCode.DELIVER);
    DeliverView view = new DeliverView();
    view.read(frame.buffer(), 0, frame.body().length, FrameLimits.DEFAULT);
    for (int i = 0; i < view.eventCount(); i++) {
      to.add(view.offset() + i);
    }
  }

  @Test
  void aBarrierWaitsUntilEverythingBeforeItIsStored() throws Exception {
    String name = create();
    int frames = 100;
    try (RawClient raw = RawClient.connected(bus.uri())) {
      for (int i = 1; i < frames; i++) {
        raw.send(RawClient.publish(name + ".a", i, false, "x".repeat(1_000)));
      }
      raw.send(RawClient.publish(name + ".a", frames, true, "last"));
      raw.send(ControlFrames.encode(TypeCode.BARRIER, new Barrier(7L)));
      assertThat(raw.expectConfirm().getPosition()).isEqualTo(frames);
      raw.expect(TypeCode.BARRIER);
    }
  }

  @Test
  void aBusThatStartsAgainWithItsFilesGoesOn() throws Exception {
    String name = create();
    try (CuttableProxy proxy = new CuttableProxy()) {
      proxy.to(bus.uri().getPort());
      EventBusClient client = connect(through(proxy));
      for (int i = 1; i <= 20; i++) {
        assertThat(get(client.publish(name + "." + i % 3, "event " + i)).position()).isEqualTo(i);
      }
      proxy.loseAnswers();
      CompletionStage<Published> unknown = client.publish(name + ".0", "event 21");
      awaitLast(name, 21);
      proxy.cut();
      bus.close();
      bus = restart();
      proxy.to(bus.uri().getPort());
      assertThat(content(name).path("lastPosition").asLong()).isEqualTo(21);
      BlockingQueue<ReceivedEvent> received = subscribe(connect(bus.uri()), name + ".>");
      proxy.heal();
      assertThat(get(unknown).position()).isEqualTo(21);
      assertThat(get(unknown).repeated()).isTrue();
      assertThat(get(client.publish(name + ".0", "event 22")).position()).isEqualTo(22);
      ReceivedEvent first = next(received);
      assertThat(first.text()).as("nothing is delivered again").isEqualTo("event 22");
      assertThat(first.position()).isEqualTo(22);
      EventBusException.Refused refused =
          refusal(client.publish(name + ".0", Event.of("no"), PublishOptions.expecting(21)));
      assertThat(refused.code()).isEqualTo(ErrorCode.EXPECTATION_FAILED);
    }
  }

  @Test
  void aBusWithoutADirectoryRefusesWhatOnlyDurableTopicsHave() throws Exception {
    try (BusServer plain = TestBus.start();
        RawClient raw = RawClient.connected(plain.uri())) {
      EventBusClient client = connect(plain.uri());
      EventBusException.Refused refused =
          refusal(client.publish("a", Event.of("x"), PublishOptions.expecting(0)));
      assertThat(refused.code()).isEqualTo(ErrorCode.UNSUPPORTED);
      assertThat(get(client.publish("a", "x")).position()).isZero();
      raw.send(expecting("a", 1));
      Problem problem = raw.expectProblem();
      assertThat(problem.getCode()).isEqualTo(io.eventbus.schema.ErrorCode.NO_JOURNAL);
      assertThat(problem.getRetryable()).isFalse();
      assertThat(problem.getAbout()).isEqualTo(1);
      CliHarness cli = new CliHarness();
      assertThat(cli.run("journal", "list", "--admin=127.0.0.1:" + plain.adminPort())).isNotZero();
      assertThat(cli.err()).contains("this bus has no durable topics");
    }
  }

  /** Encodes a publication of one event that expects its topic to be empty. */
  private static byte[] expecting(String topic, long sequence) {
    ByteBuffer event = ByteBuffer.allocate(Frames.eventSize(1, -1, 1, 1));
    Frames.writeEvent(event, 1, null, EncodedHeaders.NONE, new byte[1]);
    byte[] name = topic.getBytes(StandardCharsets.UTF_8);
    int tail = Frames.publishTailSize(1, 0, 0, null, 0);
    ByteBuffer frame =
        ByteBuffer.allocate(
            Frames.publishSize(name.length, sequence, 0, 1, event.flip().limit()) + tail + 8);
    Frames.writePublishHead(frame, name, sequence, 0, true, 1, event.limit(), tail);
    frame.put(event).put((byte) 0);
    Frames.writePublishTail(frame, 1, 0, 0, null, 0);
    byte[] bytes = new byte[frame.position()];
    frame.flip().get(bytes);
    return bytes;
  }
}
