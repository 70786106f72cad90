package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.Published;
import io.eventbus.client.ReconnectPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Bus that is killed under load and started again, as its clients see it. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class SdkKillIT {
  private static final int TOPICS = 4;
  private static final int ROUNDS = 2;

  private static final ReconnectPolicy EAGER =
      new ReconnectPolicy(Duration.ofMillis(20), Duration.ofMillis(200), 2, 0.5, Integer.MAX_VALUE);

  @Test
  void everyEventIsDeliveredOnceOrToldAsMissing() throws Exception {
    BusProcess bus = BusProcess.start(0);
    Heard heard = new Heard();
    Map<String, Set<Long>> received = new ConcurrentHashMap<>();
    AtomicInteger twice = new AtomicInteger();
    AtomicInteger outOfOrder = new AtomicInteger();
    Map<String, Long> last = new ConcurrentHashMap<>();
    try (EventBusClient subscriber =
            EventBusClient.builder()
                .url(bus.uri())
                .name("subscriber")
                .listener(heard)
                .reconnect(EAGER)
                .connect();
        EventBusClient publisher =
            EventBusClient.builder().url(bus.uri()).name("publisher").reconnect(EAGER).connect()) {
      subscriber
          .subscribe(
              "kill.>",
              event -> {
                Set<Long> seen =
                    received.computeIfAbsent(event.topic(), t -> ConcurrentHashMap.newKeySet());
                if (!seen.add(event.sequence())) {
                  twice.incrementAndGet();
                }
                Long before = last.put(event.topic(), event.sequence());
                if (before != null && before >= event.sequence()) {
                  outOfOrder.incrementAndGet();
                }
              })
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
      heard.nextConnection();
      AtomicBoolean stop = new AtomicBoolean();
      List<CompletionStage<Published>> stages = new ArrayList<>();
      Map<String, Long> highest = new ConcurrentHashMap<>();
      CountDownLatch firstEvents = new CountDownLatch(2_000);
      CompletableFuture<Void> load =
          CompletableFuture.runAsync(
              () -> {
                for (int n = 0; !stop.get(); n++) {
                  String topic = "kill." + n % TOPICS;
                  if (n % 2 == 0) {
                    stages.add(publisher.publish(topic, "x"));
                  } else {
                    publisher.send(topic, "x");
                  }
                  firstEvents.countDown();
                  if (n % 50 == 0) {
                    pause();
                  }
                }
              });
      assertThat(firstEvents.await(60, TimeUnit.SECONDS)).isTrue();
      // Events before the first one that a subscriber sees of a topic are not missing to it.
      awaitAllTopics(last);
      int port = bus.uri().getPort();
      for (int round = 0; round < ROUNDS; round++) {
        bus.kill();
        assertThat(heard.nextEnd()).isEqualTo("1006 again");
        bus = BusProcess.start(port);
        heard.nextConnection();
        // A little load on the new one before the next kill.
        publisher.publish("kill.0", "round").toCompletableFuture().get(60, TimeUnit.SECONDS);
      }
      stop.set(true);
      load.get(60, TimeUnit.SECONDS);
      for (CompletionStage<Published> stage : stages) {
        Published published = stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        highest.merge(published.topic(), published.sequence(), Math::max);
      }
      // The last of each topic, so that nothing is missing behind it.
      for (int t = 0; t < TOPICS; t++) {
        Published end =
            publisher.publish("kill." + t, "end").toCompletableFuture().get(60, TimeUnit.SECONDS);
        highest.put(end.topic(), end.sequence());
      }
      publisher.flush(Duration.ofSeconds(30));
      awaitLast(last, highest);

      assertThat(twice).as("delivered twice").hasValue(0);
      assertThat(outOfOrder).as("out of order").hasValue(0);
      checkThatNothingVanished(received, heard, highest);
      assertThat(publisher.counters().reconnects()).isEqualTo(ROUNDS);
    } finally {
      bus.kill();
    }
  }

  private static void pause() {
    try {
      // The pace of the load, not a wait for anything.
      new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitAllTopics(Map<String, Long> last) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (last.size() < TOPICS) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("received only " + last);
      }
      pause();
    }
  }

  private static void awaitLast(Map<String, Long> last, Map<String, Long> highest)
      throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!last.equals(highest)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("received up to " + last + ", published up to " + highest);
      }
      pause();
    }
  }

  /**
   * Checks that every number from 1 to the highest was received or told as missing, and not both.
   */
  private static void checkThatNothingVanished(
      Map<String, Set<Long>> received, Heard heard, Map<String, Long> highest) {
    Map<String, Set<Long>> missing = new ConcurrentHashMap<>();
    for (Gap gap : heard.gaps) {
      Set<Long> told = missing.computeIfAbsent(gap.topic(), t -> new HashSet<>());
      for (long n = gap.from(); n <= gap.to(); n++) {
        assertThat(told.add(n)).as("told twice: %s", gap).isTrue();
      }
    }
    highest.forEach(
        (topic, end) -> {
          Set<Long> got = received.getOrDefault(topic, Set.of());
          Set<Long> told = missing.getOrDefault(topic, Set.of());
          for (long n = 1; n <= end; n++) {
            assertThat(got.contains(n) ^ told.contains(n))
                .as(
                    "%s %s received (%s) or told as missing (%s)",
                    topic, n, got.contains(n), told.contains(n))
                .isTrue();
          }
        });
  }
}
