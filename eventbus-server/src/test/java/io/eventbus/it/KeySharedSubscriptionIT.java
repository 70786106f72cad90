package io.eventbus.it;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Worker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers of a key-shared durable subscription that join and leave, and a bus that is killed. */
class KeySharedSubscriptionIT extends DurableBuses {
  private static final int KEYS = 200;
  private static final int EVENTS = 8_000;

  private final Map<String, BusProcess> processes = new LinkedHashMap<>();
  private final Map<String, Key> keys = new ConcurrentHashMap<>();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger first = new AtomicInteger();
  private volatile boolean killed;

  KeySharedSubscriptionIT(@TempDir Path root) {
    super(root);
  }

  /** Events of a key, which are numbered from 1, as handlers get them. */
  private final class Key {
    private final Semaphore handler = new Semaphore(1);
    private int last;

    void handle(ReceivedEvent event) {
      int number = Integer.parseInt(event.text());
      if (!handler.tryAcquire()) {
        violations.add(event.key() + ": " + number + " beside another one");
        return;
      }
      if (number == last + 1) {
        last = number;
        first.incrementAndGet();
      } else if (number > last || !killed) {
        violations.add(event.key() + ": " + number + " after " + last);
      }
      handler.release();
    }
  }

  private Worker work(BusProcess bus) throws Exception {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    Worker worker =
        client
            .durable("jobs")
            .journal("orders")
            .filter("orders.>")
            .from(Start.FIRST)
            .keyShared()
            .concurrency(4)
            // No event comes again because the machine is busy.
            .ackTimeout(Duration.ofMinutes(5))
            .handler(
                (event, delivery) ->
                    keys.computeIfAbsent(event.key(), key -> new Key()).handle(event));
    get(worker.ready());
    return worker;
  }

  private BusProcess bus(String name) {
    return Objects.requireNonNull(processes.get(name));
  }

  private List<CompletableFuture<Published>> publish(EventBusClient publisher, int from, int to) {
    List<CompletableFuture<Published>> stored = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Event event = Event.builder("" + (1 + i / KEYS)).key("key-" + i % KEYS).build();
      stored.add(publisher.publish("orders." + i % 3, event).toCompletableFuture());
    }
    return stored;
  }

  private void awaitHandled(int count) throws Exception {
    WatchedBus.await(
        () -> first.get() >= count || !violations.isEmpty(),
        () -> first.get() + " of " + count + " events that were handled");
    assertThat(violations).isEmpty();
  }

  @Test
  @Timeout(600)
  void theEventsOfEachKeyAreHandledInTheirOrderOneAtATime() throws Exception {
    try {
      startProcesses(processes);
      WatchedBus.await(() -> up(bus("bus-a")) == 3, () -> "buses that are UP");
      String unused = create(bus("bus-a").adminPort(), "orders");
      EventBusClient publisher = EventBusClient.builder().url(bus("bus-a").uri()).connect();
      clients.add(publisher);
      Worker leaving = work(bus("bus-a"));
      List<CompletableFuture<Published>> stored = publish(publisher, 0, EVENTS / 2);
      awaitHandled(500);
      Worker onKilled = work(bus("bus-c"));
      Worker staying = work(bus("bus-b"));
      awaitHandled(3_000);
      get(leaving.unsubscribe());
      Worker late = work(bus("bus-b"));
      for (CompletableFuture<Published> each : stored) {
        assertThat(each.get(2, MINUTES)).isNotNull();
      }
      awaitHandled(EVENTS / 2);
      stored = publish(publisher, EVENTS / 2, EVENTS);
      awaitHandled(EVENTS / 2 + 1_000);
      // Nobody else gets the events of its keys.
      WatchedBus.await(() -> onKilled.counters().received() > 0, () -> "events at bus-c");
      killed = true;
      bus("bus-c").kill();
      for (CompletableFuture<Published> each : stored) {
        assertThat(each.get(2, MINUTES)).isNotNull();
      }
      awaitHandled(EVENTS);
      assertThat(staying.counters().received()).isPositive();
      assertThat(late.counters().received()).isPositive();
      WatchedBus.await(
          () -> cursor().path("lag").asLong() == 0, () -> "what is settled: " + cursor());
      assertThat(violations).isEmpty();
      assertThat(cursor().path("settled").asInt()).isEqualTo(EVENTS);
      assertThat(cursor().path("mode").asText()).isEqualTo("KEY_SHARED");
      assertThat(cursor().path("dead").asInt()).isZero();
      clients.forEach(client -> client.close(Duration.ZERO));
    } finally {
      for (BusProcess process : processes.values()) {
        process.kill();
      }
    }
  }

  private JsonNode cursor() {
    try {
      return JSON.readTree(bus("bus-a").admin("/api/v1/journals/orders/cursors"))
          .path("items")
          .get(0);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
