package io.eventbus.client.internal.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.Overflow;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.internal.ClientFixture;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Credit;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Slow subscriptions: their own policy acts on their own buffer; only BLOCK stalls the others. */
@Timeout(180)
class IndependentSubscriptionsTest extends ClientFixture {
  private static final int BUFFER = 8 * 1024;
  private static final String KIB = "x".repeat(1000);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<Object> log = new LinkedBlockingQueue<>();
  private final BlockingQueue<Long> others = new LinkedBlockingQueue<>();
  private final CountDownLatch go = new CountDownLatch(1);

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void gap(Gap gap) {
          told.add(gap);
        }

        @Override
        public void interruption(Interruption interruption) {
          told.add(interruption);
        }

        @Override
        public void problem(EventBusException problem) {
          told.add(problem);
        }

        @Override
        public void disconnected(int code, String reason, boolean willReconnect) {
          told.add(code + " " + willReconnect);
        }
      };

  /** Handler that stands still at its first event until {@code go}. */
  private final EventHandler slow =
      new EventHandler() {
        @Override
        public void onEvent(ReceivedEvent event) throws Exception {
          log.add(event.key() == null ? event.sequence() : event.sequence() + event.key());
          go.await();
        }

        @Override
        public void onGap(Gap gap) {
          log.add(gap);
        }

        @Override
        public void onInterruption(Interruption interruption) {
          log.add(interruption);
        }
      };

  @Override
  protected ClientBuilder settings() {
    return super.settings().listener(listener);
  }

  @AfterEach
  void letHandlersGo() {
    go.countDown();
  }

  private static SubscribeOptions options(Overflow overflow) {
    return SubscribeOptions.DEFAULT.withOverflow(overflow).withBufferBytes(BUFFER);
  }

  private Subscription subscribe(EventBusClient client, Overflow overflow) throws Exception {
    return get(client.subscribe("slow.>", options(overflow), slow).ready());
  }

  private void deliver(long sequence, @Nullable String... keys) {
    String[] payloads = new String[keys.length];
    java.util.Arrays.fill(payloads, "x".repeat(200));
    bus.connection().message(FakeBus.deliver("slow.a", 5, sequence, NO_GROUP, keys, payloads));
  }

  /** Returns the calls of the handler, until the last event. */
  private List<Object> heardUntil(Object last) throws InterruptedException {
    go.countDown();
    List<Object> all = new ArrayList<>();
    while (all.isEmpty() || !last.equals(all.get(all.size() - 1))) {
      all.add(take(log));
    }
    return all;
  }

  private static Gap gap(long from, long to, Gap.Reason reason) {
    return new Gap("slow.a", 5, from, to, reason, "slow.>");
  }

  @Test
  void aDroppingSubscriptionDropsItsOwnEventsOnly() throws Exception {
    EventBusClient client = connect();
    Subscription subscription = subscribe(client, Overflow.DROP_OLDEST);
    get(client.subscribe("other", event -> others.add(event.sequence())).ready());
    deliver("slow.a", 1, KIB);
    assertThat(take(log)).isEqualTo(1L);
    for (long n = 2; n <= 200; n++) {
      deliver("slow.a", n, KIB);
      deliver("other", n, "y");
      assertThat(take(others)).isEqualTo(n);
      assertThat(bus.connection().isPaused()).isFalse();
      assertThat(subscription.counters().bufferedBytes()).isLessThan(BUFFER + 1100);
    }
    long granted = 0;
    for (FakeBus.Arrival c = bus.credits.poll(); c != null; c = bus.credits.poll()) {
      granted = ((Credit) c.content()).getLimit();
    }
    assertThat(granted).as("the bus goes on sending").isGreaterThan(200 * 1000);
    List<Object> heard = heardUntil(200L);
    Gap gap = (Gap) heard.get(0);
    assertThat(gap).isEqualTo(gap(2, gap.to(), Gap.Reason.BUFFER_FULL));
    for (int i = 1; i < heard.size(); i++) {
      assertThat(heard.get(i)).as("those that came last").isEqualTo(gap.to() + i);
    }
    assertThat(heard.size()).isGreaterThan(4);
    long all = 0;
    while (all < gap.count()) {
      Gap one = (Gap) take(told);
      assertThat(one.reason()).isEqualTo(Gap.Reason.BUFFER_FULL);
      all += one.count();
    }
    assertThat(all).isEqualTo(gap.count());
    assertThat(subscription.counters().missing()).isEqualTo(gap.count());
    assertThat(client.counters().missing()).isEqualTo(gap.count());
  }

  @Test
  void aFrameThatIsLargerThanTheBufferComesAllTheSame() throws Exception {
    subscribe(connect(), Overflow.DROP_OLDEST);
    deliver("slow.a", 1, "x".repeat(20_000));
    assertThat(take(log)).isEqualTo(1L);
    deliver("slow.a", 2, "x".repeat(20_000));
    deliver("slow.a", 3, "x".repeat(20_000));
    assertThat(heardUntil(3L)).containsExactly(gap(2, 2, Gap.Reason.BUFFER_FULL), 3L);
  }

  @Test
  void conflateKeepsTheLastOfEachKey() throws Exception {
    EventBusClient client = connect();
    Subscription subscription = subscribe(client, Overflow.CONFLATE);
    deliver(1, "a", "b", null);
    assertThat(take(log)).isEqualTo("1a");
    for (long n = 4; n <= 600; n += 3) {
      deliver(n, "a", "b", null);
      assertThat(subscription.counters().bufferedBytes()).isLessThan(BUFFER + 2000);
    }
    deliver(601, "c");
    List<Object> heard = heardUntil("601c");
    long next = 2;
    List<Object> events = new ArrayList<>();
    for (Object one : heard) {
      if (one instanceof Gap gap) {
        assertThat(gap).isEqualTo(gap(next, gap.to(), Gap.Reason.BUFFER_CONFLATED));
        next = gap.to() + 1;
      } else {
        events.add(one);
        next++;
      }
    }
    assertThat(next).as("each number is an event or told").isEqualTo(602);
    assertThat(events).containsExactly("598a", "599b", 600L, "601c");
    assertThat(subscription.counters().missing()).isEqualTo(600 - 4);
    assertThat(client.counters().missing()).isEqualTo(600 - 4);
    get(subscription.unsubscribe());
    assertThat(subscription.counters().bufferedBytes()).isZero();
    assertThat(subscription.counters().received()).isEqualTo(5);
  }

  @Test
  void conflateWithTooManyKeysDropsTheOldest() throws Exception {
    Subscription subscription = subscribe(connect(), Overflow.CONFLATE);
    deliver(1, "k1");
    assertThat(take(log)).isEqualTo("1k1");
    for (long n = 2; n <= 200; n++) {
      deliver(n, "k" + n);
      assertThat(subscription.counters().bufferedBytes()).isLessThan(BUFFER + 500);
    }
    List<Object> heard = heardUntil("200k200");
    Gap gap = (Gap) heard.get(0);
    assertThat(gap).isEqualTo(gap(2, gap.to(), Gap.Reason.BUFFER_FULL));
    assertThat(heard)
        .hasSize((int) (200 - gap.to()) + 1)
        .element(1)
        .isEqualTo((gap.to() + 1) + "k" + (gap.to() + 1));
  }

  @Test
  void gapsOfVeryManyStreamsBecomeAnInterruption() throws Exception {
    Subscription subscription = subscribe(connect(), Overflow.DROP_OLDEST);
    deliver("slow.a", 1, KIB);
    assertThat(take(log)).isEqualTo(1L);
    long begun = clock.epochMicros();
    for (int n = 0; n < 300; n++) {
      deliver("slow.t" + n, 1, KIB);
    }
    deliver("slow.a", 2, KIB);
    List<Object> heard = heardUntil(2L);
    assertThat(((Interruption) heard.get(0)).from()).isEqualTo(Subscriptions.instant(begun));
    assertThat(heard.stream().filter(Gap.class::isInstance).count()).isLessThan(70);
    long events = heard.stream().filter(Long.class::isInstance).count();
    assertThat(subscription.counters().missing()).isEqualTo(301 - events);
    assertThat(subscription.counters().interruptions())
        .isEqualTo(told.stream().filter(Interruption.class::isInstance).count());
  }

  @Test
  void disconnectClosesTheConnectionAsTheBusDoes() throws Exception {
    EventBusClient client = connect();
    subscribe(client, Overflow.DISCONNECT);
    deliver("slow.a", 1, KIB);
    assertThat(take(log)).isEqualTo(1L);
    FakeBus.Connection first = bus.connection();
    for (long n = 2; first == bus.connection() && n < 20; n++) {
      deliver("slow.a", n, KIB);
      scheduler.advance(Duration.ofMillis(100));
    }
    assertThat(first.closedWith).isEqualTo(4001);
    Gap gap = (Gap) take(told);
    assertThat(gap).isEqualTo(gap(2, gap.to(), Gap.Reason.BUFFER_FULL));
    assertThat(((EventBusException.Refused) take(told)).code()).isEqualTo(ErrorCode.SLOW_CONSUMER);
    assertThat(take(told)).isEqualTo("4001 true");
    assertThat(take(told)).isInstanceOf(Interruption.class);
    deliver("slow.a", 30, KIB);
    List<Object> heard = heardUntil(30L);
    assertThat(heard.get(0)).isEqualTo(gap);
    assertThat(heard).hasAtLeastOneElementOfType(Interruption.class);
  }

  @Test
  void disconnectClosesNothingWhileNothingWaits() throws Exception {
    subscribe(connect(), Overflow.DISCONNECT);
    FakeBus.Connection connection = bus.connection();
    deliver("slow.a", 1, "x".repeat(20_000));
    assertThat(take(log)).isEqualTo(1L);
    deliver("slow.a", 2, KIB);
    assertThat(told).isEmpty();
    assertThat(bus.connection()).isSameAs(connection);
    assertThat(heardUntil(2L)).containsExactly(2L);
  }

  @Test
  void conflatingCopiesNoMoreThanWhatStays() {
    int events = 4096;
    String[] keys = new String[events];
    String[] payloads = new String[events];
    for (int i = 0; i < events; i++) {
      keys[i] = i % 2 == 0 ? "same" : "k" + i;
      payloads[i] = "x";
    }
    ProducerState origin = new ProducerState(new TopicHandlers("t", new TopicHandlers.Key()), 7);
    byte[] frame = FakeBus.deliver("t", 7, 1, NO_GROUP, keys, payloads);
    ByteBuffer message = ByteBuffer.wrap(frame);
    FrameCursor cursor = new FrameCursor().wrap(message, 0, frame.length);
    assertThat(cursor.next()).isTrue();
    DeliverView view = new DeliverView();
    view.read(message, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.UNLIMITED);
    InboundDelivery delivery =
        new InboundDelivery(
            message, view.eventsStart(), view.eventsEnd(), origin, 1, 0, 1, events, 0, null);
    LatestEvents latest = new LatestEvents();
    latest.add(delivery);
    BufferPolicy policy =
        new BufferPolicy(Overflow.CONFLATE, "t", Long.MAX_VALUE, latest, clock::epochMicros);
    Deque<Inbound> waiting = new ArrayDeque<>(List.of(delivery));
    long before = THREADS.getCurrentThreadAllocatedBytes();
    policy.apply(waiting, delivery.bytes(), new BufferPolicy.Dropped());
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertThat(waiting.stream().filter(InboundDelivery.class::isInstance)).hasSize(events / 2 - 1);
    assertThat(waiting.stream().filter(MissingEvents.class::isInstance)).hasSize(events / 2 - 1);
    assertThat(allocated).isLessThan(events * 2_000L);
  }

  @Test
  void onlyBlockHoldsTheConnectionAndItIsToldWhichHoldsBackWhich() throws Exception {
    EventBusClient client = connect();
    get(client.subscribe("other", event -> {}).ready());
    get(client.subscribe("third", options(Overflow.DROP_OLDEST), event -> {}).ready());
    Subscription subscription = subscribe(client, Overflow.BLOCK);
    for (long n = 1; n <= 12; n++) {
      deliver("slow.a", n, KIB);
    }
    scheduler.advance(Duration.ofMillis(900));
    assertThat(told).isEmpty();
    scheduler.advance(Duration.ofSeconds(2));
    EventBusException.Refused problem = (EventBusException.Refused) take(told);
    assertThat(problem.code()).isEqualTo(ErrorCode.SLOW_CONSUMER);
    assertThat(problem)
        .hasMessage(
            "the subscription to slow.> with BLOCK has "
                + subscription.counters().bufferedBytes()
                + " bytes that are not handled (bufferBytes: 8192), and holds back the others of"
                + " this client: other, third (expected: it keeps up, or another overflow, or a"
                + " client of its own)");
    scheduler.advance(Duration.ofSeconds(9));
    assertThat(told).isEmpty();
    scheduler.advance(Duration.ofSeconds(3));
    assertThat(take(told)).isInstanceOf(EventBusException.Refused.class);
    heardUntil(12L);
    get(subscription.unsubscribe());
    scheduler.advance(Duration.ofSeconds(30));
    assertThat(told).isEmpty();
  }

  /** Subscribes under BLOCK with a handler that takes as many events as there are permits. */
  private Subscription subscribe(
      EventBusClient client, String filter, int bufferBytes, Semaphore permits) throws Exception {
    SubscribeOptions blocks =
        SubscribeOptions.DEFAULT.withOverflow(Overflow.BLOCK).withBufferBytes(bufferBytes);
    EventHandler handler =
        event -> {
          permits.acquire();
          log.add(event.sequence());
        };
    return get(client.subscribe(filter, blocks, handler).ready());
  }

  @Test
  void theFullOneIsNamedAndNotALargerOneThatHasRoom() throws Exception {
    EventBusClient client = connect();
    Semaphore never = new Semaphore(0);
    Subscription large = subscribe(client, "large", 1 << 20, never);
    Subscription small = subscribe(client, "small", BUFFER, never);
    for (long n = 1; n <= 50; n++) {
      deliver("large", n, KIB);
    }
    for (long n = 1; n <= 12; n++) {
      deliver("small", n, KIB);
    }
    scheduler.advance(Duration.ofSeconds(3));
    assertThat((EventBusException) take(told))
        .hasMessageStartingWith("the subscription to small with BLOCK");
    never.release(100);
    get(small.unsubscribe());
    get(large.unsubscribe());
  }

  @Test
  void holdsThatEndAndBeginAgainAreToldToo() throws Exception {
    EventBusClient client = connect();
    get(client.subscribe("other", event -> {}).ready());
    Semaphore permits = new Semaphore(0);
    Subscription subscription = subscribe(client, "slow.a", BUFFER, permits);
    long sequence = 0;
    for (int i = 0; i < 12; i++) {
      // Full, for most of the time.
      for (int n = 0; n < 12; n++) {
        deliver("slow.a", ++sequence, KIB);
      }
      scheduler.advance(Duration.ofMillis(300));
      permits.release(12);
      for (int n = 0; n < 12; n++) {
        take(log);
      }
      awaitEmpty(subscription);
      scheduler.advance(Duration.ofMillis(100));
    }
    assertThat((EventBusException) take(told))
        .hasMessageStartingWith("the subscription to slow.a with BLOCK");
    assertThat(told).isEmpty();
    get(subscription.unsubscribe());
  }

  /**
   * Waits until nothing is buffered: an event counts until its handler has returned, which is a
   * moment after its log.
   */
  private static void awaitEmpty(Subscription subscription) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (subscription.counters().bufferedBytes() > 0) {
      assertThat(System.nanoTime()).as("handled within 60 s").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCK", "DROP_OLDEST", "CONFLATE"})
  void framesOfOthersInTheSameMessagesDoNotStayInMemory(Overflow overflow) {
    ProducerState origin = new ProducerState(new TopicHandlers("t", new TopicHandlers.Key()), 7);
    InboundQueue queue =
        new InboundQueue(
            BUFFER,
            overflow == Overflow.BLOCK
                ? null
                : new BufferPolicy(overflow, "t", BUFFER, null, clock::epochMicros),
            clock::nanoTime);
    for (int n = 1; n <= 100; n++) {
      byte[] frame = FakeBus.deliver("t", 7, n, NO_GROUP, "x" + n);
      ByteBuffer message = ByteBuffer.allocate(4 * 1024).put(frame);
      DeliverView view = new DeliverView();
      FrameCursor cursor = new FrameCursor().wrap(message, 0, frame.length);
      assertThat(cursor.next()).isTrue();
      view.read(message, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.UNLIMITED);
      InboundDelivery delivery =
          new InboundDelivery(
              message, view.eventsStart(), view.eventsEnd(), origin, n, 0, 1, 1, 0, null);
      queue.makeRoom();
      queue.offer(List.of(delivery), delivery.bytes(), message.capacity());
    }
    EventReader reader =
        new EventReader(queue, new Acks(), new LongAdder(), BUFFER, null, "t", gap -> {});
    long kept = 0;
    Deque<Inbound> taken = new ArrayDeque<>();
    List<String> texts = new ArrayList<>();
    do {
      taken.clear();
      for (Inbound one : queue.take(taken)) {
        kept += ((InboundDelivery) one).message.capacity();
        texts.add("x" + ((InboundDelivery) one).sequence);
      }
    } while (!texts.get(texts.size() - 1).equals("x100"));
    assertThat(texts).hasSize(100);
    assertThat(kept).isLessThan(2 * BUFFER + 4 * 1024);
    assertThat(reader.next()).isNull();
  }

  @Test
  void reportsNoStallWithoutOtherSubscriptions() throws Exception {
    subscribe(connect(), Overflow.BLOCK);
    for (long n = 1; n <= 12; n++) {
      deliver("slow.a", n, KIB);
    }
    scheduler.advance(Duration.ofSeconds(30));
    assertThat(told).isEmpty();
    bus.next(TypeCode.SUBSCRIBE);
  }
}
