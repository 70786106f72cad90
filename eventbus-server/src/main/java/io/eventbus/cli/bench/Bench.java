package io.eventbus.cli.bench;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Benchmark with one publisher and several subscribers at a running bus, for a while.
 *
 * <p>All events go to one topic, whose name is made of 8 random bytes: nobody else's subscribers
 * get them but those of {@code >}. Latency counts from when an event was due: with a rate that is
 * the time that the rate gives it, whatever has become of those before it; without one, the moment
 * at which it was published. Memory is bounded by the plan's events in flight and by the
 * subscribers' buffers, 256 KiB each. For one thread, but for {@link #close}.
 */
public final class Bench implements AutoCloseable {
  private static final String PREFIX = "eventbus-bench.";
  private static final int RANDOM_BYTES = 8;
  private static final int BUFFER_BYTES = 256 * 1024;
  private static final Duration SUBSCRIBE = Duration.ofSeconds(30);
  private static final Duration CLOSE = Duration.ofSeconds(2);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long SLICE = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long POLL = TimeUnit.MILLISECONDS.toNanos(5);

  /** Time for an event that comes once more after the last. */
  private static final long SETTLE = TimeUnit.MILLISECONDS.toNanos(100);

  /** Time without any confirmation or arrival after which none is awaited. */
  private static final Duration STALLED = Duration.ofSeconds(10);

  private final Supplier<EventBusClient> connect;
  private final BenchPlan plan;
  private final EachSecond eachSecond;
  private final long stalled;
  private final String topic = PREFIX + random() + ".events";
  private final List<EventBusClient> clients = new CopyOnWriteArrayList<>();
  private final List<BenchReceiver> receivers = new ArrayList<>();
  private final BenchLatencies latencies = new BenchLatencies();
  private final Semaphore room;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private long sent;
  private long start;

  /** Creates the benchmark; connects nothing yet. */
  public Bench(Supplier<EventBusClient> connect, BenchPlan plan, BenchProgress progress) {
    this(connect, plan, progress, STALLED);
  }

  Bench(
      Supplier<EventBusClient> connect, BenchPlan plan, BenchProgress progress, Duration stalled) {
    this.connect = connect;
    this.plan = plan;
    this.eachSecond = new EachSecond(progress, plan.warmUp());
    this.stalled = stalled.toNanos();
    this.room = new Semaphore(plan.inFlight());
  }

  private record Snapshot(long nanos, long published, long delivered) {}

  private static String random() {
    byte[] bytes = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /**
   * Measures, once; {@link #close} afterwards.
   *
   * @throws BenchException if it does not complete; the message has the reason
   * @throws InterruptedException if the thread is interrupted
   */
  public BenchResult run() throws InterruptedException {
    subscribe();
    EventBusClient publisher = connected();
    start = System.nanoTime();
    eachSecond.begin(start);
    long from = start + plan.warmUp().toNanos();
    long end = from + plan.duration().toNanos();
    latencies.measure(from, end);
    publish(publisher, from, from);
    Snapshot begin = snapshot();
    // Events due before the end are sent, but a bus that cannot keep up at all has to stop.
    publish(publisher, end, plan.rate() == 0 ? end : end + SECOND);
    Snapshot measured = snapshot();
    awaitConfirmations();
    awaitArrivals();
    return result(publisher, begin, measured);
  }

  /** Fails the measurement, for example because a connection is lost for good; any thread. */
  public void fail(String why) {
    failure.compareAndSet(null, new BenchException(why, null));
  }

  private EventBusClient connected() {
    EventBusClient client = connect.get();
    clients.add(client);
    return client;
  }

  private void subscribe() throws InterruptedException {
    SubscribeOptions options = new SubscribeOptions(null, plan.overflow(), BUFFER_BYTES);
    List<Subscription> subscriptions = new ArrayList<>();
    for (int i = 0; i < plan.subscribers(); i++) {
      BenchReceiver receiver = new BenchReceiver(plan.payloadBytes(), latencies);
      receivers.add(receiver);
      subscriptions.add(connected().subscribe(topic, options, receiver));
    }
    for (Subscription subscription : subscriptions) {
      try {
        subscription.ready().toCompletableFuture().get(SUBSCRIBE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        throw new BenchException("cannot subscribe", e.getCause());
      } catch (TimeoutException e) {
        throw new BenchException(
            "the bus did not confirm a subscription within " + SUBSCRIBE.toSeconds() + " s", e);
      }
    }
  }

  /** Publishes what is due before a time; goes on where it stood. */
  private void publish(EventBusClient publisher, long end, long deadline)
      throws InterruptedException {
    byte[] payload = new byte[plan.payloadBytes()];
    ByteBuffer mark = ByteBuffer.wrap(payload);
    Event event = Event.of(payload);
    while (true) {
      long due = plan.rate() == 0 ? start : start + due(sent, plan.rate());
      if (due - end >= 0 || !awaitTime(due, deadline) || !awaitRoom(deadline)) {
        return;
      }
      // The array may be reused: the SDK has copied it when the call returns.
      mark.putLong(0, ++sent);
      mark.putLong(Long.BYTES, plan.rate() == 0 ? System.nanoTime() : due);
      send(publisher, event);
    }
  }

  /** Returns when an event is due after the first, in nanoseconds, without overflow. */
  static long due(long number, long rate) {
    return number / rate * SECOND + number % rate * SECOND / rate;
  }

  // The stage's result goes to the semaphore and the failure.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void send(EventBusClient publisher, Event event) {
    publisher
        .publish(topic, event)
        .whenComplete(
            (published, error) -> {
              if (error != null) {
                failure.compareAndSet(null, error);
              }
              room.release();
            });
  }

  /** Returns false if the deadline comes before the time. */
  private boolean awaitTime(long due, long deadline) {
    while (true) {
      long now = look();
      if (now - deadline >= 0) {
        return false;
      }
      if (due - now <= 0) {
        return true;
      }
      LockSupport.parkNanos(Math.min(SLICE, due - now));
    }
  }

  /** Returns false if the deadline comes before there is room for another event. */
  private boolean awaitRoom(long deadline) throws InterruptedException {
    long begun = System.nanoTime();
    while (!room.tryAcquire(SLICE, TimeUnit.NANOSECONDS)) {
      long now = look();
      if (now - begun > stalled) {
        throw new BenchException(
            "no event was confirmed for " + TimeUnit.NANOSECONDS.toMillis(stalled) + " ms", null);
      }
      if (now - deadline >= 0) {
        return false;
      }
    }
    return true;
  }

  /** Checks the clock and failures; reports every second. */
  private long look() {
    Throwable failed = failure.get();
    if (failed != null) {
      throw failed instanceof BenchException known
          ? known
          : new BenchException("an event was not published", failed);
    }
    long now = System.nanoTime();
    eachSecond.look(now, sent, this::received);
    return now;
  }

  private Snapshot snapshot() {
    return new Snapshot(System.nanoTime(), sent, received());
  }

  private long received() {
    return receivers.stream().mapToLong(r -> r.numbers().received()).sum();
  }

  private void awaitConfirmations() throws InterruptedException {
    if (!room.tryAcquire(plan.inFlight(), stalled, TimeUnit.NANOSECONDS)) {
      throw new BenchException(
          "not every event was confirmed within " + TimeUnit.NANOSECONDS.toMillis(stalled) + " ms",
          null);
    }
    look();
  }

  /** Waits until every event is everywhere, or nothing has come for a while. */
  private void awaitArrivals() {
    long received = -1;
    long changed = System.nanoTime();
    while (receivers.stream().anyMatch(r -> r.numbers().missing(sent) > 0)) {
      long now = System.nanoTime();
      long sum = received();
      if (sum != received) {
        received = sum;
        changed = now;
      } else if (now - changed > stalled) {
        return;
      }
      LockSupport.parkNanos(POLL);
    }
    LockSupport.parkNanos(SETTLE);
  }

  private BenchResult result(EventBusClient publisher, Snapshot begin, Snapshot end) {
    double seconds = (end.nanos() - begin.nanos()) / (double) SECOND;
    long published = end.published() - begin.published();
    long delivered = end.delivered() - begin.delivered();
    List<NumberCheck> numbers = receivers.stream().map(BenchReceiver::numbers).toList();
    return new BenchResult(
        publisher.connection().map(ConnectionInfo::bus).orElse(""),
        topic,
        plan.subscribers(),
        plan.payloadBytes(),
        plan.rate(),
        seconds,
        published,
        delivered,
        published / seconds,
        delivered / seconds,
        latencies.take(),
        sent,
        numbers.stream().mapToLong(check -> check.missing(sent)).sum(),
        clients.stream().mapToLong(client -> client.counters().missing()).sum(),
        numbers.stream().mapToLong(NumberCheck::doubled).sum(),
        numbers.stream().mapToLong(NumberCheck::reordered).sum(),
        receivers.stream().mapToLong(BenchReceiver::foreign).sum(),
        clients.stream().mapToLong(client -> client.counters().reconnects()).sum());
  }

  /** Closes all clients within about 2 s, the publisher first; any thread. */
  @Override
  public void close() {
    List<EventBusClient> last = new ArrayList<>(clients);
    Collections.reverse(last);
    long end = System.nanoTime() + CLOSE.toNanos();
    for (EventBusClient client : last) {
      client.close(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
    }
  }
}
