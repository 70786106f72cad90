package io.eventbus.client.internal.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.eventbus.client.AvroCodec;
import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.EventStream;
import io.eventbus.client.Gap;
import io.eventbus.client.GapSubscriber;
import io.eventbus.client.Interruption;
import io.eventbus.client.Overflow;
import io.eventbus.client.PayloadCodec;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.TypedHandler;
import io.eventbus.client.internal.ClientFixture;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Subscribing in all its forms, against a bus without a network. */
@Timeout(180)
class SubscriberTest extends ClientFixture {

  private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> got = new LinkedBlockingQueue<>();
  private final BlockingQueue<Interruption> interruptions = new LinkedBlockingQueue<>();

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void gap(Gap gap) {
          told.add(gap);
        }

        @Override
        public void handlerFailed(
            Subscription subscription, ReceivedEvent event, Throwable failure) {
          told.add(failure);
        }

        @Override
        public void problem(EventBusException problem) {
          told.add(problem);
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

  @Test
  void anEventHasAllItsParts() throws Exception {
    EventBusClient client = connect();
    BlockingQueue<ReceivedEvent> events = new LinkedBlockingQueue<>();
    get(client.subscribe("a.*", events::add).ready());
    deliver("a.b", 3, "one", "two");
    ReceivedEvent first = take(events);
    ReceivedEvent second = take(events).detached();
    assertThat(first.topic()).isEqualTo("a.b");
    assertThat(first.producer()).isEqualTo(5);
    assertThat(first.sequence()).isEqualTo(3);
    assertThat(first.publishedAtMicros()).isEqualTo(5);
    assertThat(first.receivedAtMicros()).isEqualTo(9);
    assertThat(first.text()).isEqualTo("one");
    assertThat(first.key()).isNull();
    assertThat(first.headers()).isEmpty();
    assertThat(second.sequence()).isEqualTo(4);
    assertThat(second.payload()).isEqualTo("two".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    assertThat(second.payloadBuffer().isReadOnly()).isTrue();
    assertThat(second.payloadBuffer().remaining()).isEqualTo(3);
  }

  @Test
  void theBusIsToldWhatWasAskedFor() throws Exception {
    EventBusClient client = connect();
    client.subscribe(
        "jobs.>",
        SubscribeOptions.DEFAULT.withGroup("workers").withOverflow(Overflow.CONFLATE),
        event -> {});
    Subscribe frame = (Subscribe) bus.next(TypeCode.SUBSCRIBE).content();
    assertThat(frame.getFilter()).isEqualTo("jobs.>");
    assertThat(frame.getGroup()).isEqualTo("workers");
    assertThat(frame.getOverflow()).isEqualTo(io.eventbus.schema.Overflow.CONFLATE);
    assertThatExceptionOfType(EventBusException.IllegalTopic.class)
        .isThrownBy(() -> client.subscribe("a.>.b", event -> {}));
  }

  @Test
  void overlappingSubscriptionsEachGetTheEventOnce() throws Exception {
    EventBusClient client = connect();
    BlockingQueue<String> other = new LinkedBlockingQueue<>();
    collect(client, "a.b");
    get(client.subscribe("a.>", event -> other.add(event.text())).ready());
    deliver("a.b", 1, "x");
    deliver("a.c", 1, "y");
    assertThat(take(1)).containsExactly("x");
    assertThat(List.of(take(other), take(other))).containsExactly("x", "y");
  }

  @Test
  void groupSubscriptionsGetOnlyWhatNamesThem() throws Exception {
    EventBusClient client = connect();
    Subscription group =
        get(
            client
                .subscribe(
                    "a.>",
                    SubscribeOptions.DEFAULT.withGroup("g"),
                    event -> got.add("group " + event.text()))
                .ready());
    long id = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    bus.connection().message(FakeBus.deliver("a.b", 5, 1, NO_GROUP, "not for us"));
    bus.connection().message(FakeBus.deliver("a.b", 5, 4, new long[] {id}, "ours"));
    bus.connection().message(FakeBus.deliver("a.b", 5, 4, new long[] {id}, "ours"));
    bus.connection().message(FakeBus.deliver("a.b", 5, 9, new long[] {id}, "ours too"));
    assertThat(take(2)).containsExactly("group ours", "group ours too");
    assertThat(told).isEmpty();
    assertThat(group.counters().missing()).isZero();
  }

  @Test
  void framesOfADurableTopicForGroupsAreForThemAlone() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    long unused = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    SubscribeOptions group = SubscribeOptions.DEFAULT.withGroup("g");
    get(client.subscribe("a", group, event -> got.add("group " + event.text())).ready());
    long id = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    bus.connection().message(FakeBus.stored("a", 1, 1, "1"));
    // Of another bus, before and after the frames for the subscription without a group.
    bus.connection().message(FakeBus.stored("a", 3, 3, List.of(id), "3"));
    bus.connection().message(FakeBus.stored("a", 2, 2, "2", "3"));
    bus.connection().message(FakeBus.stored("a", 2, 2, List.of(id), "2"));
    assertThat(take(5)).containsExactlyInAnyOrder("1", "2", "3", "group 3", "group 2");
    assertThat(told).isEmpty();
    assertThat(client.counters().duplicates()).isZero();
  }

  @Test
  void duplicatesAreDroppedAndHolesAreTold() throws Exception {
    EventBusClient client = connect();
    Subscription subscription = collect(client, "a");
    deliver("a", 10, "10", "11");
    deliver("a", 10, "10", "11", "12");
    deliver("a", 15, "15");
    assertThat(take(4)).containsExactly("10", "11", "12", "15");
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 13, 14, Gap.Reason.LOST));
    assertThat(client.counters().duplicates()).isEqualTo(2);
    assertThat(client.counters().missing()).isEqualTo(2);
    assertThat(subscription.counters().missing()).isEqualTo(2);
    assertThat(subscription.counters().duplicates()).isEqualTo(2);
  }

  @Test
  void reportsDropsOfTheBusOnce() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    deliver("a", 1, "1");
    bus.connection()
        .frame(TypeCode.GAP, new io.eventbus.schema.Gap("a", 5L, 2L, 4L, GapReason.QUEUE_FULL));
    deliver("a", 6, "6");
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 2, 4, Gap.Reason.QUEUE_FULL));
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 5, 5, Gap.Reason.LOST));
  }

  private void dropped(long from, long to) {
    bus.connection()
        .frame(TypeCode.GAP, new io.eventbus.schema.Gap("a", 5L, from, to, GapReason.QUEUE_FULL));
  }

  @Test
  void aSlowHandlerUnderConflateGetsTheLastOfEachTopicAndKey() throws Exception {
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    EventHandler handler =
        new EventHandler() {
          @Override
          public void onEvent(ReceivedEvent event) throws Exception {
            got.add(event.text());
            gate.acquire();
          }

          @Override
          public void onGap(Gap gap) {
            got.add(gap.toString());
          }
        };
    SubscribeOptions options = SubscribeOptions.DEFAULT.withOverflow(Overflow.CONFLATE);
    Subscription subscription = get(client.subscribe("a.*", options, handler).ready());
    deliver("a.x", 1, "x1");
    assertThat(take(got)).isEqualTo("x1");
    deliver("a.x", 2, "x2", "x3", "x4");
    deliver("a.y", 1, "y1");
    deliver("a.y", 2, "y2");
    deliver("a.z", 1, "z1");
    gate.release(4);
    Gap x = new Gap("a.x", 5, 2, 3, Gap.Reason.BUFFER_CONFLATED, "a.*");
    Gap y = new Gap("a.y", 5, 1, 1, Gap.Reason.BUFFER_CONFLATED, "a.*");
    assertThat(take(5)).containsExactly(x.toString(), "x4", y.toString(), "y2", "z1");
    assertThat(take(told)).isEqualTo(x);
    assertThat(take(told)).isEqualTo(y);
    assertThat(subscription.counters().missing()).isEqualTo(3);
    assertThat(client.counters().missing()).isEqualTo(3);
    get(subscription.unsubscribe());
    assertThat(subscription.counters().received()).isEqualTo(4);
  }

  private final class Recorder implements EventHandler {
    @Override
    public void onEvent(ReceivedEvent event) {
      got.add(event.text());
    }

    @Override
    public void onInterruption(Interruption interruption) {
      got.add("interruption");
      interruptions.add(interruption);
    }
  }

  private void loseConnection() {
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
  }

  @Test
  void everySubscriptionIsToldOfAnInterruptionInOrderWithTheEvents() throws Exception {
    EventBusClient client = connect();
    Subscription plain = get(client.subscribe("a", new Recorder()).ready());
    SubscribeOptions group = SubscribeOptions.DEFAULT.withGroup("g");
    Subscription member = get(client.subscribe("b", group, new Recorder()).ready());
    deliver("a", 1, "1");
    assertThat(take(1)).containsExactly("1");
    assertThat(interruptions).isEmpty();
    long lostAt = clock.epochMicros();
    loseConnection();
    deliver("a", 5, "5");
    assertThat(take(3)).containsExactlyInAnyOrder("interruption", "interruption", "5");
    Set<String> filters = new HashSet<>();
    for (int i = 0; i < 2; i++) {
      Interruption told = take(interruptions);
      filters.add(told.filter());
      assertThat(told.from()).isEqualTo(Instant.EPOCH.plus(lostAt, ChronoUnit.MICROS));
      assertThat(Duration.between(told.from(), told.to())).isEqualTo(Duration.ofMillis(100));
    }
    assertThat(filters).containsExactlyInAnyOrder("a", "b");
    assertThat(plain.counters().interruptions()).isEqualTo(1);
    assertThat(member.counters().interruptions()).isEqualTo(1);
    get(plain.unsubscribe());
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(200));
    assertThat(take(got)).isEqualTo("interruption");
    assertThat(take(interruptions).filter()).isEqualTo("b");
  }

  @Test
  void anInterruptionLastsUntilASubscriptionIsConfirmed() throws Exception {
    EventBusClient client = connect();
    get(client.subscribe("a", new Recorder()).ready());
    bus.confirmsSubscriptions = false;
    loseConnection();
    deliver("a", 1, "before the confirmation");
    assertThat(take(got)).isEqualTo("before the confirmation");
    assertThat(interruptions).isEmpty();
    bus.connection().end(1006, "");
    bus.confirmsSubscriptions = true;
    scheduler.advance(Duration.ofMillis(300));
    assertThat(take(got)).isEqualTo("interruption");
    Interruption told = take(interruptions);
    // From the first loss: the second one comes 100 ms later, its end 200 ms after that.
    assertThat(Duration.between(told.from(), told.to()))
        .isGreaterThanOrEqualTo(Duration.ofMillis(300));
  }

  @Test
  void aHandlerIsToldOfMissingEventsInOrder() throws Exception {
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    EventHandler handler =
        new EventHandler() {
          @Override
          public void onEvent(ReceivedEvent event) throws Exception {
            gate.acquire();
            got.add(event.text());
          }

          @Override
          public void onGap(Gap gap) {
            got.add(gap.toString());
          }
        };
    Subscription subscription = get(client.subscribe("*", handler).ready());
    deliver("a", 1, "1");
    dropped(2, 4);
    deliver("a", 7, "7");
    // The listener knows before the handler is there.
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 2, 4, Gap.Reason.QUEUE_FULL));
    assertThat(got).isEmpty();
    gate.release(2);
    assertThat(take(4))
        .containsExactly(
            "1",
            new Gap("a", 5, 2, 4, Gap.Reason.QUEUE_FULL, "*").toString(),
            new Gap("a", 5, 5, 6, Gap.Reason.LOST, "*").toString(),
            "7");
    assertThat(subscription.counters().received()).isLessThanOrEqualTo(2);
  }

  @Test
  void aTypedHandlerIsToldOfMissingEvents() throws Exception {
    EventBusClient client = connect();
    PayloadCodec<String> texts =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(String value) {
            return value.getBytes(StandardCharsets.UTF_8);
          }

          @Override
          public String decode(byte[] payload, long fingerprint) {
            return new String(payload, StandardCharsets.UTF_8);
          }

          @Override
          public long fingerprint() {
            return 0;
          }
        };
    TypedHandler<String> handler =
        new TypedHandler<>() {
          @Override
          public void onEvent(String value, ReceivedEvent event) {
            got.add(value);
          }

          @Override
          public void onGap(Gap gap) {
            got.add("gap " + gap.filter());
          }
        };
    get(client.subscribe("a", SubscribeOptions.DEFAULT, texts, handler).ready());
    deliver("a", 1, "1");
    deliver("a", 3, "3");
    assertThat(take(3)).containsExactly("1", "gap a", "3");
  }

  @Test
  void aHandlerThatFailsWhenItIsToldOfMissingEventsGoesOn() throws Exception {
    EventBusClient client = connect();
    EventHandler handler =
        new EventHandler() {
          @Override
          public void onEvent(ReceivedEvent event) {
            got.add(event.text());
          }

          @Override
          public void onGap(Gap gap) {
            throw new IllegalStateException("on purpose");
          }
        };
    Subscription subscription = get(client.subscribe("a", handler).ready());
    deliver("a", 1, "1");
    deliver("a", 3, "3");
    assertThat(take(2)).containsExactly("1", "3");
    assertThat(subscription.counters().failed()).isEqualTo(1);
  }

  @Test
  void aStreamTellsOfMissingEventsInOrder() throws Exception {
    EventBusClient client = connect();
    try (EventStream stream = client.stream("a")) {
      stream.onGap(gap -> got.add("gap " + gap.from()));
      get(stream.subscription().ready());
      deliver("a", 1, "1");
      deliver("a", 3, "3");
      assertThat(text(stream)).isEqualTo("1");
      assertThat(got).isEmpty();
      assertThat(text(stream)).isEqualTo("3");
      assertThat(take(1)).containsExactly("gap 2");
    }
  }

  @Test
  void aFlowSubscriberIsToldOfMissingEventsInOrder() throws Exception {
    EventBusClient client = connect();
    final class Knowing extends Slow implements GapSubscriber {
      @Override
      public void onGap(Gap gap) {
        got.add("gap " + gap.from());
      }
    }
    Knowing knowing = new Knowing();
    client.publisher("a").subscribe(knowing);
    Flow.Subscription demand = get(knowing.subscribed);
    bus.next(TypeCode.SUBSCRIBE);
    deliver("a", 1, "1");
    deliver("a", 3, "3");
    demand.request(2);
    assertThat(take(3)).containsExactly("1", "gap 2", "3");
  }

  @Test
  void holesAreFoundAcrossAReconnect() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    deliver("a", 1, "1");
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    bus.next(TypeCode.SUBSCRIBE);
    bus.next(TypeCode.SUBSCRIBE);
    deliver("a", 1, "1", "2");
    deliver("a", 4, "4");
    assertThat(take(3)).containsExactly("1", "2", "4");
    assertThat(take(told)).isEqualTo(new Gap("a", 5, 3, 3, Gap.Reason.LOST));
  }

  @Test
  void reportsNoGapBetweenTwoSubscriptions() throws Exception {
    EventBusClient client = connect();
    Subscription first = collect(client, "a");
    deliver("a", 1, "1");
    get(first.unsubscribe());
    collect(client, "a");
    deliver("a", 7, "7");
    assertThat(take(2)).containsExactly("1", "7");
    assertThat(client.counters().missing()).isZero();
  }

  @Test
  void handledEventsAreAcknowledgedTogether() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    deliver("a", 1, "1", "2");
    deliver("a", 3, "3");
    take(3);
    // The last one is handled when the handler has returned and the queue was found empty. Time
    // goes on as it does outside, or the sender's thread would seem to take half a minute.
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    CountDownLatch never = new CountDownLatch(1);
    while (!acknowledged(3)) {
      assertThat(System.nanoTime()).as("acknowledged within 60 s").isLessThan(deadline);
      scheduler.advance(Duration.ofMillis(1));
      assertThat(never.await(1, TimeUnit.MILLISECONDS)).isFalse();
    }
  }

  private boolean acknowledged(long sequence) {
    return bus.arrivals.stream()
        .anyMatch(a -> a.type() == TypeCode.ACK && a.content().equals(new Ack("a", 5L, sequence)));
  }

  @Test
  void aHandlersExceptionDoesNotEndTheStream() throws Exception {
    EventBusClient client = connect();
    Subscription subscription =
        get(
            client
                .subscribe(
                    "a",
                    event -> {
                      if (event.sequence() == 1) {
                        throw new IllegalStateException("on purpose");
                      }
                      got.add(event.text());
                    })
                .ready());
    deliver("a", 1, "1", "2");
    assertThat(take(1)).containsExactly("2");
    assertThat(take(told)).isInstanceOf(IllegalStateException.class);
    assertThat(subscription.counters().failed()).isEqualTo(1);
  }

  @Test
  @SuppressWarnings("NullAway") // What callers without NullAway do.
  void aHandlerThatIsNoneIsRefused() throws Exception {
    EventBusClient client = connect();
    assertThatNullPointerException()
        .isThrownBy(() -> client.subscribe("a", (EventHandler) null))
        .withMessage("handler");
    assertThatNullPointerException()
        .isThrownBy(
            () ->
                client.subscribe(
                    "a",
                    SubscribeOptions.DEFAULT,
                    AvroCodec.of(Ack.class),
                    (TypedHandler<Ack>) null))
        .withMessage("handler");
  }

  @Test
  void aPayloadThatCannotBeReadIsToldWithItsTopic() throws Exception {
    EventBusClient client = connect();
    get(
        client
            .subscribe(
                "a.*",
                SubscribeOptions.DEFAULT,
                AvroCodec.of(Ack.class),
                (ack, event) -> got.add("read"))
            .ready());
    deliver("a.b", 7, "no record");
    assertThat(take(told))
        .isInstanceOfSatisfying(
            EventBusException.UnreadablePayload.class,
            e -> assertThat(e).hasMessageContaining("event 7 of a.b").hasMessageContaining("Ack"));
  }

  @Test
  void aHandlersErrorDoesNotEndTheStreamEither() throws Exception {
    EventBusClient client = connect();
    get(
        client
            .subscribe(
                "a",
                event -> {
                  if (event.sequence() == 1) {
                    throw new NoClassDefFoundError("on purpose");
                  }
                  got.add(event.text());
                })
            .ready());
    deliver("a", 1, "1", "2");
    assertThat(take(1)).containsExactly("2");
    assertThat(take(told)).isInstanceOf(NoClassDefFoundError.class);
  }

  @Test
  void theOrderIsKeptOnAnExecutorWithManyThreads() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(4);
    try {
      EventBusClient client = connect(settings -> settings.executor(executor));
      List<Long> sequences = Collections.synchronizedList(new ArrayList<>());
      CompletableFuture<Void> all = new CompletableFuture<>();
      get(
          client
              .subscribe(
                  "a",
                  event -> {
                    sequences.add(event.sequence());
                    if (event.sequence() == 20_000) {
                      all.complete(null);
                    }
                  })
              .ready());
      for (int i = 1; i <= 20_000; i++) {
        deliver("a", i, "x");
      }
      get(all);
      assertThat(sequences).hasSize(20_000).isSorted();
    } finally {
      executor.shutdownNow();
    }
  }

  /** Executor that runs tasks in threads of their own, unless it is told to refuse them. */
  private static final class Moody implements Executor {
    private final BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
    private volatile boolean refuses;

    @Override
    public void execute(Runnable task) {
      if (refuses) {
        throw new RejectedExecutionException("on purpose");
      }
      Thread thread = new Thread(task);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }

    /** Refuses tasks from now on, and nothing runs. */
    void refuse() throws InterruptedException {
      for (Thread thread = threads.poll(); thread != null; thread = threads.poll()) {
        thread.join(10_000);
      }
      refuses = true;
    }
  }

  @Test
  void anExecutorThatRefusesForAMomentLosesNothing() throws Exception {
    bus.knowsCredit = false;
    Moody executor = new Moody();
    EventBusClient client = connect(settings -> settings.executor(executor));
    collect(client, "a");
    executor.refuse();
    deliver("a", 1, "1");
    assertThat(bus.connection().isPaused()).isTrue();
    scheduler.advance(Duration.ofSeconds(20));
    assertThat(bus.connection().isPaused()).isTrue();
    executor.refuses = false;
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(take(1)).containsExactly("1");
    assertThat(bus.connection().isPaused()).isFalse();
    deliver("a", 2, "2");
    assertThat(take(1)).containsExactly("2");
    assertThat(told).isEmpty();
    assertThat(client.counters().abandonedSubscriptions()).isZero();
  }

  @Test
  void anExecutorThatGoesOnRefusingEndsTheSubscription() throws Exception {
    Moody executor = new Moody();
    EventBusClient client = connect(settings -> settings.executor(executor));
    Subscription subscription = collect(client, "a");
    executor.refuse();
    deliver("a", 1, "1");
    scheduler.advance(ConsumerStarts.REFUSAL_TIMEOUT.plusSeconds(1));
    bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(take(told))
        .isInstanceOfSatisfying(
            EventBusException.Closed.class,
            e ->
                assertThat(e)
                    .hasMessageContaining("subscription to a is ended")
                    .hasMessageContaining("executor")
                    .hasCauseInstanceOf(RejectedExecutionException.class));
    get(subscription.unsubscribe());
    assertThat(bus.connection().isPaused()).isFalse();
    assertThat(client.counters().abandonedSubscriptions()).isEqualTo(1);
    assertThat(subscription.counters().bufferedBytes()).isZero();
  }

  @Test
  void anExecutorThatIsShutDownEndsTheSubscriptionAtOnce() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    EventBusClient client = connect(settings -> settings.executor(executor));
    collect(client, "a");
    executor.shutdownNow();
    deliver("a", 1, "1");
    bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(take(told))
        .isInstanceOfSatisfying(
            EventBusException.Closed.class, e -> assertThat(e).hasMessageContaining("shut down"));
    assertThat(bus.connection().isPaused()).isFalse();
  }

  @Test
  void closingEndsASubscriptionWhoseHandlerIsRefused() throws Exception {
    Moody executor = new Moody();
    EventBusClient client = connect(settings -> settings.executor(executor));
    Subscription subscription = collect(client, "a");
    executor.refuse();
    deliver("a", 1, "1");
    client.close(Duration.ZERO);
    get(subscription.unsubscribe());
  }

  @Test
  void aFlowSubscriberWhoseExecutorGoesOnRefusingIsTold() throws Exception {
    Moody executor = new Moody();
    EventBusClient client = connect(settings -> settings.executor(executor));
    Slow slow = new Slow();
    client.publisher("a").subscribe(slow);
    Flow.Subscription demand = get(slow.subscribed);
    bus.next(TypeCode.SUBSCRIBE);
    // Its Confirm has come when the next one has: a frame still being sent would run into its
    // deadline when the clock moves.
    get(client.stream("b").subscription().ready());
    executor.refuse();
    demand.request(1);
    scheduler.advance(ConsumerStarts.REFUSAL_TIMEOUT.plusSeconds(1));
    assertThat(get(slow.end)).isEqualTo("Closed");
    bus.next(TypeCode.UNSUBSCRIBE);
  }

  @Test
  void aFlowSubscriberThatThrowsInOnSubscribeIsCancelled() throws Exception {
    EventBusClient client = connect();
    Slow slow =
        new Slow() {
          @Override
          public void onSubscribe(Flow.Subscription subscription) {
            throw new IllegalStateException("on purpose");
          }
        };
    client.publisher("a").subscribe(slow);
    bus.next(TypeCode.UNSUBSCRIBE);
  }

  @Test
  void droppedEventsDoNotCountAsBuffered() throws Exception {
    EventBusClient client = connect();
    EventStream stream = client.stream("a");
    get(stream.subscription().ready());
    deliver("a", 1, "1", "2");
    assertThat(text(stream)).isEqualTo("1");
    deliver("a", 3, "3");
    assertThat(stream.subscription().counters().bufferedBytes()).isPositive();
    stream.close();
    assertThat(stream.subscription().counters().bufferedBytes()).isZero();
    assertThat(stream.poll(Duration.ZERO)).isNull();
    assertThat(stream.subscription().counters().bufferedBytes()).isZero();
  }

  /** Lets a handler go on in another thread after many events, before the first one has left it. */
  @Test
  void aHandlerMayCloseItsClientThoughItsThreadHasChanged() throws Exception {
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    CountDownLatch inLast = new CountDownLatch(1);
    List<Thread> runs = Collections.synchronizedList(new ArrayList<>());
    BlockingQueue<Thread> first = new LinkedBlockingQueue<>();
    Executor executor =
        task -> {
          boolean goesOn = task instanceof PushConsumer && runs.contains(Thread.currentThread());
          Thread thread = new Thread(task);
          thread.setDaemon(true);
          if (task instanceof PushConsumer) {
            runs.add(thread);
          }
          thread.start();
          if (goesOn) {
            first.add(Thread.currentThread());
            await(inLast);
          }
        };
    EventBusClient client = connect(settings -> settings.executor(executor));
    get(
        client
            .subscribe(
                "a",
                event -> {
                  if (event.text().equals("last")) {
                    inLast.countDown();
                    take(first).join(10_000);
                    closed.complete(client.close(Duration.ofSeconds(5)));
                  }
                })
            .ready());
    String[] many = new String[5_001];
    java.util.Arrays.fill(many, "x");
    byte[] firstHalf = FakeBus.deliver("a", 5, 1, NO_GROUP, many);
    many[many.length - 1] = "last";
    byte[] secondHalf = FakeBus.deliver("a", 5, 1 + many.length, NO_GROUP, many);
    bus.connection().message(firstHalf, secondHalf);
    assertThat(get(closed)).isTrue();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aFullBufferStopsTheReading() throws Exception {
    bus.knowsCredit = false;
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    get(
        client
            .subscribe(
                "a",
                SubscribeOptions.DEFAULT.withBufferBytes(1024),
                event -> {
                  gate.acquire();
                  got.add(event.text());
                })
            .ready());
    String big = "x".repeat(900);
    deliver("a", 1, big);
    assertThat(bus.connection().isPaused()).isFalse();
    deliver("a", 2, big);
    assertThat(bus.connection().isPaused()).isTrue();
    CompletableFuture<Void> third = CompletableFuture.runAsync(() -> deliver("a", 3, big));
    assertThatExceptionOfType(java.util.concurrent.TimeoutException.class)
        .isThrownBy(() -> third.get(50, TimeUnit.MILLISECONDS));
    gate.release(3);
    get(third);
    assertThat(take(3)).hasSize(3);
  }

  @Test
  void aSubscriptionWithRoomGetsItsEventsWhileAnotherIsFull() throws Exception {
    bus.knowsCredit = false;
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    get(
        client
            .subscribe("a", SubscribeOptions.DEFAULT.withBufferBytes(1024), event -> gate.acquire())
            .ready());
    collect(client, "b");
    String big = "x".repeat(900);
    deliver("a", 1, big);
    bus.connection()
        .message(
            FakeBus.deliver("a", 5, 2, NO_GROUP, big),
            FakeBus.deliver("b", 5, 1, NO_GROUP, "through"));
    assertThat(take(1)).containsExactly("through");
    assertThat(bus.connection().isPaused()).isTrue();
    gate.release(2);
    deliver("b", 2, "after");
    assertThat(take(1)).containsExactly("after");
  }

  @Test
  void aNewConnectionIsNotReadBeforeThereIsRoom() throws Exception {
    bus.knowsCredit = false;
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    get(
        client
            .subscribe("a", SubscribeOptions.DEFAULT.withBufferBytes(1024), event -> gate.acquire())
            .ready());
    deliver("a", 1, "x".repeat(900));
    deliver("a", 2, "x".repeat(900));
    FakeBus.Connection old = bus.connection();
    old.end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.connection()).isNotSameAs(old);
    assertThat(bus.connection().isPaused()).isTrue();
    gate.release(3);
    deliver("a", 3, "read again");
  }

  @Test
  void aStreamThatIsClosedHoldsNobody() throws Exception {
    bus.knowsCredit = false;
    EventBusClient client = connect();
    EventStream stream = client.stream("a", SubscribeOptions.DEFAULT.withBufferBytes(1024));
    get(stream.subscription().ready());
    String big = "x".repeat(900);
    deliver("a", 1, big);
    deliver("a", 2, big);
    CompletableFuture<Void> third = CompletableFuture.runAsync(() -> deliver("a", 3, big));
    assertThatExceptionOfType(java.util.concurrent.TimeoutException.class)
        .isThrownBy(() -> third.get(50, TimeUnit.MILLISECONDS));
    stream.close();
    get(third);
    get(stream.subscription().unsubscribe());
    assertThat(stream.poll(Duration.ZERO)).isNull();
  }

  @Test
  void eventsArePulledInOrder() throws Exception {
    EventBusClient client = connect();
    try (EventStream stream = client.stream("a")) {
      get(stream.subscription().ready());
      assertThat(stream.poll(Duration.ofMillis(1))).isNull();
      deliver("a", 1, "1", "2");
      assertThat(text(stream)).isEqualTo("1");
      assertThat(text(stream)).isEqualTo("2");
      CompletableFuture<String> waiting =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return text(stream);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      deliver("a", 3, "3");
      assertThat(get(waiting)).isEqualTo("3");
    }
  }

  private static String text(EventStream stream) throws InterruptedException {
    ReceivedEvent event = stream.poll(Duration.ofSeconds(10));
    return event == null ? "nothing" : event.text();
  }

  @Test
  void anUnsubscribedHandlerGetsWhatWasUnderWayAndThenNothing() throws Exception {
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    Subscription subscription =
        get(
            client
                .subscribe(
                    "a",
                    event -> {
                      gate.acquire();
                      got.add(event.text());
                    })
                .ready());
    deliver("a", 1, "1", "2");
    CompletionStage<Void> finished = subscription.unsubscribe();
    bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(finished.toCompletableFuture()).isNotDone();
    gate.release(10);
    get(finished);
    assertThat(take(2)).containsExactly("1", "2");
    deliver("a", 3, "3");
    assertThat(got).isEmpty();
    assertThat(subscription.unsubscribe()).isSameAs(finished);
  }

  @Test
  void theLastEventsMayComeTogetherWithTheEnd() throws Exception {
    EventBusClient client = connect();
    bus.answersUnsubscribe = false;
    List<String> beforeTheEnd = Collections.synchronizedList(new ArrayList<>());
    Subscription subscription =
        get(client.subscribe("a", event -> beforeTheEnd.add(event.text())).ready());
    CompletionStage<List<String>> finished =
        subscription.unsubscribe().thenApply(done -> List.copyOf(beforeTheEnd));
    long id = (Long) bus.next(TypeCode.UNSUBSCRIBE).content();
    bus.connection()
        .message(
            FakeBus.deliver("a", 5, 1, NO_GROUP, "last"),
            ControlFrames.encode(TypeCode.DRAINED, new io.eventbus.schema.Drained(id)));
    assertThat(get(finished)).containsExactly("last");
  }

  @Test
  void aRefusedSubscriptionSaysWhy() throws Exception {
    EventBusClient client = connect();
    bus.confirmsSubscriptions = false;
    Subscription subscription = client.subscribe("secret", event -> {});
    long id = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(io.eventbus.schema.ErrorCode.FORBIDDEN, "not you", false, id, 2, ""));
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(subscription.ready()))
        .havingCause()
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.FORBIDDEN));
    get(subscription.unsubscribe());
  }

  @Test
  void aRefusalIsToldWhereNobodyAsksForTheStage() throws Exception {
    EventBusClient client = connect();
    bus.confirmsSubscriptions = false;
    client.subscribe("secret", event -> {});
    long id = ((Subscribe) bus.next(TypeCode.SUBSCRIBE).content()).getId();
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(io.eventbus.schema.ErrorCode.FORBIDDEN, "not you", false, id, 2, ""));
    assertThat(((EventBusException.Refused) take(told)).code()).isEqualTo(ErrorCode.FORBIDDEN);
    client.subscribe("a", event -> {});
    scheduler.advance(Duration.ofSeconds(31));
    assertThat(take(told)).isInstanceOf(EventBusException.TimedOut.class);
  }

  @Test
  void aSubscriptionThatIsNotConfirmedTimesOutAndEndsAtTheBus() throws Exception {
    EventBusClient client = connect();
    bus.confirmsSubscriptions = false;
    Subscription subscription = client.subscribe("a", event -> got.add(event.text()));
    subscription.ready();
    scheduler.advance(Duration.ofSeconds(31));
    bus.next(TypeCode.UNSUBSCRIBE);
    deliver("a", 1, "late");
    get(subscription.unsubscribe());
    assertThat(got).isEmpty();
    assertThat(told).isEmpty();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(subscription.ready()))
        .havingCause()
        .isInstanceOf(EventBusException.TimedOut.class);
  }

  /** Subscriber that asks for as many as a test says. */
  private class Slow implements Flow.Subscriber<ReceivedEvent> {
    final CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
    final CompletableFuture<String> end = new CompletableFuture<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscribed.complete(subscription);
    }

    @Override
    public void onNext(ReceivedEvent event) {
      got.add(event.text());
    }

    @Override
    public void onError(Throwable failure) {
      end.complete(failure.getClass().getSimpleName());
    }

    @Override
    public void onComplete() {
      end.complete("complete");
    }
  }

  @Test
  void aFlowSubscriberGetsNoMoreThanItAskedFor() throws Exception {
    EventBusClient client = connect();
    Slow slow = new Slow();
    client.publisher("a").subscribe(slow);
    Flow.Subscription demand = get(slow.subscribed);
    bus.next(TypeCode.SUBSCRIBE);
    deliver("a", 1, "1", "2", "3");
    demand.request(2);
    assertThat(take(2)).containsExactly("1", "2");
    assertThat(got.poll(50, TimeUnit.MILLISECONDS)).isNull();
    demand.request(Long.MAX_VALUE);
    deliver("a", 4, "4");
    assertThat(take(2)).containsExactly("3", "4");
    client.close(Duration.ofSeconds(10));
    assertThat(get(slow.end)).isEqualTo("complete");
  }

  @Test
  void aFlowSubscriberThatAsksForNothingIsAnError() throws Exception {
    EventBusClient client = connect();
    Slow slow = new Slow();
    client.publisher("a").subscribe(slow);
    get(slow.subscribed).request(0);
    assertThat(get(slow.end)).isEqualTo("IllegalArgumentException");
    bus.next(TypeCode.UNSUBSCRIBE);
  }

  @Test
  void aFlowSubscriberThatCancelsHearsNothingMore() throws Exception {
    EventBusClient client = connect();
    Slow slow = new Slow();
    client.publisher("a").subscribe(slow);
    get(slow.subscribed).cancel();
    bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(slow.end).isNotDone();
  }

  @Test
  void closingWaitsForHandlers() throws Exception {
    EventBusClient client = connect();
    Semaphore gate = new Semaphore(0);
    get(
        client
            .subscribe(
                "a",
                event -> {
                  gate.acquire();
                  got.add(event.text());
                })
            .ready());
    deliver("a", 1, "1");
    CompletableFuture<Boolean> closed =
        CompletableFuture.supplyAsync(() -> client.close(Duration.ofSeconds(10)));
    bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(closed).isNotDone();
    gate.release();
    assertThat(get(closed)).isTrue();
    assertThat(take(1)).containsExactly("1");
    assertThat(acknowledged(1)).isTrue();
  }

  @Test
  void aHandlerMayCloseItsClient() throws Exception {
    EventBusClient client = connect();
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    get(
        client
            .subscribe("a", event -> closed.complete(client.close(Duration.ofSeconds(10))))
            .ready());
    deliver("a", 1, "1");
    assertThat(get(closed)).isTrue();
  }

  @Test
  void aMalformedFrameEndsTheConnectionAndWhatCameBeforeItIsDelivered() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    bus.connection().message(FakeBus.deliver("a", 5, 1, NO_GROUP, "good"), new byte[] {8, 2, 99});
    assertThat(take(1)).containsExactly("good");
    assertThat(client.connection()).isEmpty();
  }

  @Test
  void framesOfALaterVersionAreSkipped() throws Exception {
    EventBusClient client = connect();
    collect(client, "a");
    byte[] unknown = ControlFrames.encode(TypeCode.DRAINED, new io.eventbus.schema.Drained(1L));
    unknown[0] = 100;
    bus.connection().message(unknown, FakeBus.deliver("a", 5, 1, NO_GROUP, "good"));
    assertThat(take(1)).containsExactly("good");
  }
}
