package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.Subscription;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Chain of buses that all publish at the same time: each passes on for all others, and so they
 * would wait for each other in a circle if one frame's way held up the acknowledgement of another.
 */
@Timeout(180)
class ChainIT {
  private static final int BUSES = 4;
  private static final int CHANGES = 8;
  private static final int EVENTS = 100;

  private final Path root;

  ChainIT(@TempDir Path root) {
    this.root = root;
  }

  @Test
  void busesThatPassOnForEachOtherDoNotWaitInACircle() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (FederatedBuses buses = FederatedBuses.start(root, BUSES, "federation.fanout", "1")) {
      List<Receipts> steady = new ArrayList<>();
      for (int i = 0; i < BUSES; i++) {
        steady.add(Receipts.of(buses.client(i), "tree.a"));
        steady.add(Receipts.of(buses.client(i), "tree.b"));
      }
      AtomicBoolean end = new AtomicBoolean();
      List<Future<Integer>> publishers = new ArrayList<>();
      for (int i = 0; i < BUSES; i++) {
        EventBusClient publisher = buses.client(i);
        publishers.add(threads.submit(() -> publish(publisher, end)));
      }
      try {
        change(buses);
      } finally {
        end.set(true);
      }
      long rounds = 0;
      for (Future<Integer> publisher : publishers) {
        rounds += publisher.get(60, TimeUnit.SECONDS);
      }
      for (Receipts each : steady) {
        each.await(rounds * EVENTS);
        assertThat(each.duplicates()).isZero();
      }
      for (int i = 0; i < BUSES; i++) {
        buses.awaitMetric(buses.bus(i), "eventbus_federation_queue_bytes", 0);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static int publish(EventBusClient publisher, AtomicBoolean end) throws Exception {
    int rounds = 0;
    do {
      FederationIT.publish(publisher, EVENTS, "tree.a", "tree.b", "tree.c");
      // Otherwise the lanes' queues would grow, and with them the time of a change.
      publisher.flush(Duration.ofSeconds(30));
      rounds++;
    } while (!end.get());
    return rounds;
  }

  /** Subscribes other buses to a topic, again and again, so that its ways change. */
  private static void change(FederatedBuses buses) throws Exception {
    List<EventBusClient> clients = new ArrayList<>();
    for (int i = 0; i < BUSES; i++) {
      clients.add(buses.client(i));
    }
    Deque<Subscription> there = new ArrayDeque<>();
    for (int i = 0; i < CHANGES; i++) {
      Subscription next = clients.get(i % BUSES).subscribe("tree.c", event -> {});
      FederationIT.get(next.ready());
      there.add(next);
      if (there.size() == BUSES - 1) {
        FederationIT.get(there.remove().unsubscribe());
      }
    }
  }
}
