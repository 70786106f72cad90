package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SendResult;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many clients that leave a stopping bus together, each with a topic of its own, while events go
 * on. With {@code -Deventbus.it.clients=1000} it is a measurement, whose result it prints.
 */
@Timeout(240)
class DrainIT {
  private static final int CLIENTS = Integer.getInteger("eventbus.it.clients", 100);
  private static final int EVENTS_PER_SECOND = Integer.getInteger("eventbus.it.events", 2_000);

  private final List<BusServer> buses = new ArrayList<>();
  private final List<Member> members = new ArrayList<>();
  private final BlockingQueue<String> faults = new LinkedBlockingQueue<>();
  private final CountDownLatch moved = new CountDownLatch(CLIENTS);
  private final Path root;

  DrainIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    members.forEach(member -> member.client.close(Duration.ZERO));
    TestBus.closeAll(buses);
  }

  private BusServer start(String name, String join) throws IOException {
    BusServer bus =
        TestBus.startMember(
            root,
            name,
            "cluster.join",
            join,
            "cluster.leave",
            "0s",
            "balance.enabled",
            "false",
            "balance.high-percent",
            "100",
            "balance.low-percent",
            "99",
            "balance.drain-timeout",
            "60s");
    buses.add(bus);
    return bus;
  }

  /** Client that gets the events that it publishes. */
  private final class Member implements ConnectionListener {
    final EventBusClient client;
    final String topic;
    final AtomicLong sent = new AtomicLong();
    final AtomicLong got = new AtomicLong();
    final AtomicLong longestMicros = new AtomicLong();
    final AtomicInteger moves = new AtomicInteger();
    volatile URI at = URI.create("ws://nowhere");

    Member(BusServer bus, String topic) throws Exception {
      this.topic = topic;
      client = EventBusClient.builder().url(bus.uri()).name(topic).listener(this).connect();
      client
          .subscribe(topic, this::onEvent)
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
    }

    private void onEvent(ReceivedEvent event) {
      Instant now = Instant.now();
      long micros = now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
      longestMicros.accumulateAndGet(micros - event.publishedAtMicros(), Math::max);
      long expected = got.incrementAndGet();
      if (event.sequence() != expected) {
        faults.add(topic + ": " + event.sequence() + " (expected: " + expected + ")");
        got.set(event.sequence());
      }
    }

    void publish() {
      if (client.send(topic, Event.of("x")) == SendResult.ACCEPTED) {
        sent.incrementAndGet();
      }
    }

    @Override
    public void busChanged(ConnectionInfo before, ConnectionInfo now) {
      at = now.url();
      if (moves.incrementAndGet() == 1) {
        moved.countDown();
      }
    }

    @Override
    public void busChangeFailed(URI url, String why) {
      faults.add(topic + ": stays, " + why);
    }

    @Override
    public void gap(Gap gap) {
      faults.add(gap.toString());
    }

    @Override
    public void disconnected(int code, String reason, boolean willReconnect) {
      faults.add(topic + ": disconnected " + code + " " + reason);
    }
  }

  @Test
  void allClientsOfAStoppingBusGoOnAtTheOther() throws Exception {
    BusServer a = start("bus-a", "");
    BusServer b = start("bus-b", "127.0.0.1:" + a.linkPort());
    for (int i = 0; i < CLIENTS; i++) {
      members.add(new Member(a, "own." + i));
    }
    AtomicBoolean stop = new AtomicBoolean();
    Thread publisher =
        new Thread(
            () -> {
              long next = System.nanoTime();
              for (int i = 0; !stop.get(); i++) {
                members.get(i % CLIENTS).publish();
                next += TimeUnit.SECONDS.toNanos(1) / EVENTS_PER_SECOND;
                LockSupport.parkNanos(next - System.nanoTime());
              }
            });
    publisher.start();
    try {
      // Also the time in which a young process becomes fast.
      awaitEach(CLIENTS >= 500 ? 25 : 2);
      members.forEach(member -> member.longestMicros.set(0));
      long begun = System.nanoTime();
      a.close();
      assertThat(moved.await(60, TimeUnit.SECONDS)).as("faults: %s", faults).isTrue();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
      awaitEach(2);
      report(millis);
    } finally {
      stop.set(true);
      publisher.join(10_000);
    }
    for (Member member : members) {
      member.client.flush(Duration.ofSeconds(20));
      WatchedBus.await(
          () -> member.got.get() == member.sent.get(),
          () -> member.topic + ": " + member.got + " of " + member.sent + " " + faults);
      assertThat(member.at).isEqualTo(b.uri());
      assertThat(member.moves).hasValue(1);
    }
    assertThat(faults).isEmpty();
  }

  /** Waits until so many more events have come to each. */
  private void awaitEach(int events) throws InterruptedException {
    long[] from = members.stream().mapToLong(member -> member.got.get()).toArray();
    for (int i = 0; i < from.length; i++) {
      Member member = members.get(i);
      long until = from[i] + events;
      WatchedBus.await(() -> member.got.get() >= until, () -> member.topic + ": " + member.got);
    }
  }

  private void report(long millis) {
    long[] longest = members.stream().mapToLong(m -> m.longestMicros.get()).sorted().toArray();
    System.out.printf(
        "%d clients, %d events/s: gone after %d ms; longest delay of an event of each client in ms:"
            + " p50 %.1f, p99 %.1f, max %.1f; faults %d%n",
        CLIENTS,
        EVENTS_PER_SECOND,
        millis,
        longest[CLIENTS / 2] / 1e3,
        longest[(int) (CLIENTS * 0.99)] / 1e3,
        longest[CLIENTS - 1] / 1e3,
        faults.size());
  }
}
