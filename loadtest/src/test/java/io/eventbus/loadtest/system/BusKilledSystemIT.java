package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The bus is killed with SIGKILL and started again on the same port, three times, while events
 * flow.
 *
 * <p>What must hold: the clients come back by themselves; nothing is delivered twice or out of
 * order; every confirmed publish completes; and of each topic, what was delivered and what was
 * reported as gaps are together everything that was published, without an overlap.
 */
class BusKilledSystemIT {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int KILLS = 3;
  private static final int EVENTS_BETWEEN_KILLS = 3_000;
  private static final List<String> CONFIRMED = List.of("confirmed.a", "confirmed.b");
  private static final List<String> FORGOTTEN = List.of("forgotten.a", "forgotten.b");

  /** What a subscriber saw of one topic. */
  private static final class Stream {
    final List<Long> delivered = new ArrayList<>();
    final TreeMap<Long, Long> gaps = new TreeMap<>();

    synchronized void deliver(long sequence) {
      delivered.add(sequence);
    }

    synchronized void gap(Gap gap) {
      gaps.put(gap.from(), gap.to());
    }

    synchronized long last() {
      return delivered.isEmpty() ? 0 : delivered.get(delivered.size() - 1);
    }

    /** Delivered and missing, sorted: has to be 1, 2, 3 … without a repetition. */
    synchronized List<Long> all() {
      List<Long> all = new ArrayList<>(delivered);
      gaps.forEach(
          (from, to) -> {
            for (long s = from; s <= to; s++) {
              all.add(s);
            }
          });
      all.sort(null);
      return all;
    }
  }

  private final Map<String, Stream> streams = new ConcurrentHashMap<>();
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final AtomicLong deliveries = new AtomicLong();

  private Stream stream(String topic) {
    return streams.computeIfAbsent(topic, t -> new Stream());
  }

  private void onEvent(ReceivedEvent event) {
    stream(event.topic()).deliver(event.sequence());
    deliveries.incrementAndGet();
    received.add(event.text());
  }

  @Test
  @Timeout(value = 180, unit = TimeUnit.SECONDS)
  void confirmedEventsArriveOnceAndLossesAreReportedExactly() throws Exception {
    int port = freePort();
    String url = "ws://127.0.0.1:" + port + "/bus";
    ConnectionListener gapListener =
        new ConnectionListener() {
          @Override
          public void gap(Gap gap) {
            stream(gap.topic()).gap(gap);
          }
        };
    ServerProcess bus = start(port);
    try (EventBusClient subscriber = client(url, gapListener);
        EventBusClient publisher = client(url, new ConnectionListener() {})) {
      subscriber
          .subscribe(">", this::onEvent)
          .ready()
          .toCompletableFuture()
          .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      Confirmations confirmations = new Confirmations();
      for (int kill = 0; kill < KILLS; kill++) {
        publish(publisher, confirmations, EVENTS_BETWEEN_KILLS);
        awaitDeliveries(100);
        Thread traffic =
            new Thread(() -> publish(publisher, confirmations, EVENTS_BETWEEN_KILLS), "traffic");
        traffic.start();
        ProcessHandle victim = ProcessHandle.of(bus.pid()).orElseThrow();
        victim.destroyForcibly();
        victim.onExit().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
        bus.close();
        bus = start(port);
        traffic.join(DEADLINE.toMillis());
        assertThat(traffic.isAlive()).as("the publisher is stuck").isFalse();
        deliveries.set(0);
        // Traffic goes on until the subscriber is back, so that every loss is followed by an event
        // that shows it.
        awaitMarkers(publisher, confirmations, "back " + kill);
      }
      confirmations.awaitAll();
      for (String topic : topics()) {
        List<Long> delivered = stream(topic).delivered;
        assertThat(delivered).as("order of " + topic).isSorted().doesNotHaveDuplicates();
        List<Long> all = stream(topic).all();
        assertThat(all).as("delivered and gaps of " + topic).doesNotHaveDuplicates();
        assertThat(all.get(0)).isEqualTo(1);
        assertThat(all).as("delivered and gaps of " + topic).hasSize((int) stream(topic).last());
      }
    } finally {
      bus.close();
    }
  }

  private static List<String> topics() {
    List<String> topics = new ArrayList<>(CONFIRMED);
    topics.addAll(FORGOTTEN);
    return topics;
  }

  /** Publishes a marker to every topic, again and again, until one of each has come back. */
  private void awaitMarkers(EventBusClient publisher, Confirmations confirmations, String marker)
      throws InterruptedException {
    List<String> missing = new ArrayList<>(topics());
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!missing.isEmpty()) {
      assertThat(System.nanoTime())
          .as("no event on " + missing + " after a restart")
          .isLessThan(end);
      for (String topic : missing) {
        confirmations.add(publisher.publish(topic, marker + " " + topic));
      }
      String text = received.poll(100, TimeUnit.MILLISECONDS);
      while (text != null) {
        String seen = text;
        missing.removeIf(topic -> seen.equals(marker + " " + topic));
        text = received.poll();
      }
    }
  }

  private void awaitDeliveries(long count) throws InterruptedException {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (deliveries.get() < count) {
      assertThat(System.nanoTime()).as("only " + deliveries + " deliveries").isLessThan(end);
      received.poll(10, TimeUnit.MILLISECONDS);
    }
  }

  private static void publish(EventBusClient publisher, Confirmations confirmations, int count) {
    for (int i = 0; i < count; i++) {
      confirmations.add(publisher.publish(CONFIRMED.get(i % CONFIRMED.size()), "event"));
      publisher.send(FORGOTTEN.get(i % FORGOTTEN.size()), "event");
    }
  }

  /** Every confirmed publish has to complete, in spite of all. */
  private static final class Confirmations {
    private final Queue<CompletableFuture<Published>> all = new ConcurrentLinkedQueue<>();

    void add(CompletionStage<Published> stage) {
      all.add(stage.toCompletableFuture());
    }

    void awaitAll() throws Exception {
      CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]))
          .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private static EventBusClient client(String url, ConnectionListener listener) {
    return EventBusClient.builder()
        .url(url)
        .listener(listener)
        .reconnect(
            new ReconnectPolicy(
                Duration.ofMillis(20), Duration.ofMillis(200), 2, 0.5, Integer.MAX_VALUE))
        .connect();
  }

  private static ServerProcess start(int port) {
    ServerProcess bus =
        ServerProcess.startJava(
            "bus",
            List.of(),
            "io.eventbus.cli.Main",
            List.of(
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                String.valueOf(port),
                "--admin-port",
                "0"));
    bus.awaitOutput(Pattern.compile("ws://127\\.0\\.0\\.1:" + port), DEADLINE);
    return bus;
  }

  private static int freePort() throws IOException {
    // The bus has to come back where it was, so the port is chosen here and not by the bus.
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
