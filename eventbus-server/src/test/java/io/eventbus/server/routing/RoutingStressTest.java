package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryHandOver;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.WakeupList;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.subscription.MatchResult;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.Routes;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.eventbus.server.subscription.TopicRoute;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** State that threads share in routing, under contention: a lost wake-up fails by its deadline. */
class RoutingStressTest {
  private static final int PUBLISHERS = 4;
  private static final int ROUNDS = 20_000;
  private static final int DEADLINE_SECONDS = 30;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() throws Exception {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  private static void await(CountDownLatch latch, String what) throws InterruptedException {
    assertThat(latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).as("woken: %s", what).isTrue();
  }

  @SafeVarargs
  private void runAll(Callable<Void>... tasks) throws Exception {
    List<Future<Void>> running = new ArrayList<>();
    for (Callable<Void> task : tasks) {
      running.add(threads.submit(task));
    }
    for (Future<Void> task : running) {
      task.get(2 * DEADLINE_SECONDS, TimeUnit.SECONDS);
    }
  }

  /** Two threads that meet again and again: each round is one chance to miss the other. */
  private static final class Rounds {
    private final AtomicInteger round = new AtomicInteger();

    void begin(int i) {
      round.set(i);
    }

    void awaitBegin(int i) {
      while (round.get() < i && !Thread.currentThread().isInterrupted()) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void waitersForAQueueAreNeverForgotten() throws Exception {
    WakeupList waiters = new WakeupList();
    AtomicBoolean full = new AtomicBoolean();
    Rounds rounds = new Rounds();
    runAll(
        () -> {
          for (int i = 1; i <= ROUNDS; i++) {
            full.set(true);
            rounds.begin(i);
            if (full.get()) {
              CountDownLatch woken = new CountDownLatch(1);
              waiters.add(woken::countDown);
              if (!full.get()) {
                waiters.wake();
              }
              await(woken, "the publisher");
            }
          }
          return null;
        },
        () -> {
          for (int i = 1; i <= ROUNDS; i++) {
            rounds.awaitBegin(i);
            full.set(false);
            waiters.wake();
          }
          return null;
        });
    assertThat(waiters.isEmpty()).isTrue();
  }

  @Test
  void waitersForMemoryAreNeverForgotten() throws Exception {
    BusMemory memory = new BusMemory(1);
    Rounds rounds = new Rounds();
    runAll(
        () -> {
          for (int i = 1; i <= ROUNDS; i++) {
            memory.reserve(2);
            rounds.begin(i);
            if (memory.isOver()) {
              CountDownLatch woken = new CountDownLatch(1);
              memory.whenBelow(woken::countDown);
              await(woken, "the publisher");
            }
          }
          return null;
        },
        () -> {
          for (int i = 1; i <= ROUNDS; i++) {
            rounds.awaitBegin(i);
            memory.release(2);
          }
          return null;
        });
    assertThat(memory.used()).isZero();
  }

  @Test
  void manyPublishersShareTheMemory() throws Exception {
    BusMemory memory = new BusMemory(1000);
    BlockingQueue<Integer> held = new LinkedBlockingQueue<>();
    AtomicInteger running = new AtomicInteger(PUBLISHERS);
    Callable<Void> publisher =
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            while (memory.isOver()) {
              CountDownLatch woken = new CountDownLatch(1);
              memory.whenBelow(woken::countDown);
              await(woken, "a publisher");
            }
            int bytes = ThreadLocalRandom.current().nextInt(1, 400);
            memory.reserve(bytes);
            held.add(bytes);
          }
          running.decrementAndGet();
          return null;
        };
    Callable<Void> subscriber =
        () -> {
          while (running.get() > 0 || !held.isEmpty()) {
            Integer bytes = held.poll(1, TimeUnit.MILLISECONDS);
            if (bytes != null) {
              memory.release(bytes);
            }
          }
          return null;
        };
    runAll(subscriber, publisher, publisher, publisher, publisher);
    assertThat(memory.used()).isZero();
  }

  @Test
  void theHandOverLosesNothingAndWakesItsPublisher() throws Exception {
    UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    BusMemory memory = new BusMemory(1L << 40);
    Delivery small = Delivery.of(allocator, memory, DeliveryKind.DIRECT, new byte[10], 0);
    Delivery tooBig =
        Delivery.of(
            allocator, memory, DeliveryKind.DIRECT, new byte[(int) DeliveryHandOver.LIMIT], 0);
    FakeSubscriber owner = new FakeSubscriber(0);
    AtomicLong offered = new AtomicLong();
    Subscriber counter =
        new Subscriber() {
          @Override
          public int loop() {
            return owner.loop();
          }

          @Override
          public void offer(Delivery delivery, Overflow overflow) {
            offered.incrementAndGet();
          }

          @Override
          public boolean isFull() {
            return false;
          }

          @Override
          public boolean isCrowded() {
            return false;
          }

          @Override
          public void whenNotFull(Runnable retry) {
            throw new AssertionError("never full");
          }
        };
    RouteTarget[] targets = {new RouteTarget(counter, Overflow.BLOCK)};
    Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    DeliveryHandOver queue = new DeliveryHandOver(tasks::add);
    runAll(
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            queue.add(small, targets);
            queue.add(tooBig, targets);
            queue.flush();
            if (queue.isFull()) {
              CountDownLatch woken = new CountDownLatch(1);
              queue.whenNotFull(woken::countDown);
              await(woken, "the source");
            }
          }
          return null;
        },
        () -> {
          while (offered.get() < 2L * ROUNDS && !Thread.currentThread().isInterrupted()) {
            Runnable task = tasks.poll();
            if (task != null) {
              task.run();
            }
          }
          return null;
        });
    assertThat(offered).hasValue(2L * ROUNDS);
    assertThat(memory.used())
        .as("the only references left are ours")
        .isEqualTo(small.size() + tooBig.size());
    small.release();
    tooBig.release();
    assertThat(memory.used()).isZero();
  }

  /** Expected state of the index; odd while a change is in progress. */
  private record Known(AtomicLong stamp, AtomicBoolean subscribed) {}

  @Test
  void aRouteThatHoldsIsNeverStale() throws Exception {
    SubscriptionIndex index = new SubscriptionIndex(1);
    List<Known> known = new ArrayList<>();
    List<Callable<Void>> tasks = new ArrayList<>();
    AtomicLong judged = new AtomicLong();
    // Two topics on their own, changed by a plain filter and by one with a wildcard.
    for (String filter : List.of("plain.a", "wild.*")) {
      Known topic = new Known(new AtomicLong(), new AtomicBoolean());
      known.add(topic);
      RoutedSubscription s =
          new RoutedSubscription(
              new FakeSubscriber(0), 1, TopicFilter.parse(filter), null, Overflow.BLOCK);
      tasks.add(
          () -> {
            // Until the reader has seen enough of it.
            for (int i = 0; judged.get() < ROUNDS && !Thread.currentThread().isInterrupted(); i++) {
              topic.stamp().incrementAndGet();
              if (i % 2 == 0) {
                index.add(s);
              } else {
                index.remove(s);
              }
              topic.subscribed().set(i % 2 == 0);
              topic.stamp().incrementAndGet();
              Thread.onSpinWait();
            }
            return null;
          });
    }
    tasks.add(
        () -> {
          List<String> topics = List.of("plain.a", "wild.a");
          TopicRoute[] routes = {
            Routes.lookup(index, topics.get(0)), Routes.lookup(index, topics.get(1))
          };
          MatchResult matches = new MatchResult();
          while (judged.get() < ROUNDS && !Thread.currentThread().isInterrupted()) {
            for (int t = 0; t < 2; t++) {
              Known topic = known.get(t);
              long stamp = topic.stamp().get();
              boolean subscribed = topic.subscribed().get();
              if (!index.isCurrent(routes[t])) {
                index.refresh(routes[t], matches);
              }
              if (stamp % 2 == 0 && topic.stamp().get() == stamp) {
                assertThat(routes[t].route().targetCount()).isEqualTo(subscribed ? 1 : 0);
                judged.incrementAndGet();
              }
            }
          }
          return null;
        });
    List<Future<Void>> running = new ArrayList<>();
    for (Callable<Void> task : tasks) {
      running.add(threads.submit(task));
    }
    for (Future<Void> task : running) {
      task.get(2 * DEADLINE_SECONDS, TimeUnit.SECONDS);
    }
    assertThat(judged.get()).as("looks between two changes").isGreaterThanOrEqualTo(ROUNDS);
  }
}
