package io.eventbus.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.client.EventBusClient;
import io.eventbus.it.RawClient.BusFrame;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FeedView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Consumers of a shared durable subscription that speak frames, on sockets, at real buses. */
class SharedSubscriptionIT extends DurableBuses {
  private static final int WORKERS = 4;
  private static final long ID = 5;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  // Attempts with which each position has come.
  private final Map<Long, List<Integer>> came = new ConcurrentHashMap<>();
  private final AtomicInteger settled = new AtomicInteger();

  SharedSubscriptionIT(@TempDir Path root) {
    super(root);
  }

  /** Connection that settles what it gets, until it has got a number of events. */
  private final class Worker implements AutoCloseable {
    final RawClient client;
    final int stopAfter;
    int got;

    Worker(URI bus, int stopAfter) throws IOException {
      client = RawClient.connected(bus);
      this.stopAfter = stopAfter;
      client.send(
          ControlFrames.encode(
              TypeCode.CONSUME,
              new Consume(
                  ID,
                  "orders.>",
                  "orders",
                  "jobs",
                  ConsumeMode.SHARED,
                  ConsumeStart.FIRST,
                  0L,
                  1L << 40,
                  0L,
                  ConsumeStart.UNKNOWN,
                  0L,
                  100,
                  0,
                  0)));
      BusFrame answer = client.expect(TypeCode.CONFIRM);
      assertThat(confirm(answer).getTypeCode()).isEqualTo(TypeCode.CONSUME.code());
    }

    private Confirm confirm(BusFrame frame) {
      return ControlFrames.confirm(ByteBuffer.wrap(frame.body()), 0, frame.body().length);
    }

    /** Works until everything is settled, or it has got enough and stops without settling. */
    void work(int all) throws IOException {
      while (settled.get() < all) {
        if (!client.hasData(100)) {
          continue;
        }
        BusFrame frame = client.expect(TypeCode.FEED);
        FeedView feed = new FeedView();
        ByteBuffer body = ByteBuffer.wrap(frame.body());
        feed.read(body, 0, frame.body().length);
        List<Long> positions = positions(body, feed);
        got += positions.size();
        for (long position : positions) {
          came.computeIfAbsent(position, p -> new ArrayList<>()).add(feed.attempt());
        }
        if (got >= stopAfter) {
          return;
        }
        client.send(
            ControlFrames.encode(
                TypeCode.SETTLE,
                new Settle(
                    ID,
                    feed.to(),
                    false,
                    0L,
                    feed.from(),
                    SettleOutcome.DONE,
                    feed.attempt(),
                    -1,
                    "")));
        settled.addAndGet(positions.size());
      }
    }

    private List<Long> positions(ByteBuffer body, FeedView feed) {
      List<Long> positions = new ArrayList<>();
      FrameCursor cursor = new FrameCursor().wrap(body, feed.framesStart(), feed.framesEnd());
      DeliverView deliver = new DeliverView();
      while (cursor.next()) {
        deliver.read(body, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.UNLIMITED);
        for (int i = 0; i < deliver.eventCount(); i++) {
          positions.add(deliver.offset() + i);
        }
      }
      return positions;
    }

    /** Ends in order, when everything is settled. */
    void finish() throws IOException {
      client.send(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(ID)));
      BusFrame answer = client.expect(TypeCode.CONFIRM);
      assertThat(confirm(answer).getTypeCode()).isEqualTo(TypeCode.UNSUBSCRIBE.code());
      BusFrame drained = client.expect(TypeCode.DRAINED);
      assertThat(
              ControlFrames.drained(ByteBuffer.wrap(drained.body()), 0, drained.body().length)
                  .getId())
          .isEqualTo(ID);
    }

    @Override
    public void close() throws IOException {
      client.close();
    }
  }

  private JsonNode cursor(BusServer bus) throws Exception {
    return JSON.readTree(send(bus, "GET", "/api/v1/journals/orders/cursors").body())
        .path("items")
        .get(0);
  }

  private void awaitSettled(BusServer bus, int all) throws Exception {
    WatchedBus.await(
        () -> {
          try {
            return cursor(bus).path("settled").asLong() == all;
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        },
        () -> "what is settled of " + all + ": " + came.size() + " came");
  }

  @Test
  void eachOfManyEventsIsSettledAndThoseOfAConnectionThatIsCutComeAgain() throws Exception {
    BusServer bus = startWithData("bus");
    create(bus, "orders");
    int all = 10_000;
    EventBusClient publisher = connect(bus);
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      workers.add(new Worker(bus.uri(), i == 0 ? 500 : Integer.MAX_VALUE));
    }
    List<Future<?>> running = new ArrayList<>();
    CountDownLatch cut = new CountDownLatch(1);
    for (Worker worker : workers) {
      running.add(
          threads.submit(
              () -> {
                worker.work(all);
                if (worker.stopAfter < all) {
                  worker.client.close();
                  cut.countDown();
                }
                return null;
              }));
    }
    publish(publisher, 1, all);
    for (Future<?> each : running) {
      assertThat(each.get(120, SECONDS)).isNull();
    }
    assertThat(cut.getCount()).isZero();
    awaitSettled(bus, all);
    assertThat(came).hasSize(all);
    List<List<Integer>> again = came.values().stream().filter(one -> one.size() > 1).toList();
    assertThat(again).as("those of the connection that was cut").isNotEmpty();
    assertThat(again).allMatch(one -> one.equals(List.of(1, 2)));
    JsonNode cursor = cursor(bus);
    assertThat(cursor.path("mode").asText()).isEqualTo("SHARED");
    assertThat(cursor.path("lag").asLong()).isZero();
    assertThat(cursor.path("consumers").asInt()).isEqualTo(WORKERS - 1);
    for (Worker worker : workers.subList(1, WORKERS)) {
      worker.finish();
      worker.close();
    }
    WatchedBus.await(
        () -> {
          try {
            return cursor(bus).path("consumers").asInt() == 0;
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        },
        () -> "consumers that have left");
    threads.shutdown();
  }

  @Test
  void theEventsOfABusThatIsKilledComeToConsumersOfOthers() throws Exception {
    Map<String, BusProcess> processes = new LinkedHashMap<>();
    try {
      startProcesses(processes);
      BusProcess first = Objects.requireNonNull(processes.get("bus-a"));
      BusProcess killed = Objects.requireNonNull(processes.get("bus-c"));
      WatchedBus.await(() -> up(first) == 3, () -> "buses that are UP");
      String unused = create(first.adminPort(), "orders");
      EventBusClient publisher = EventBusClient.builder().url(first.uri()).connect();
      clients.add(publisher);
      int all = 50;
      Worker lost = new Worker(killed.uri(), 1);
      publish(publisher, 1, all);
      lost.work(all);
      assertThat(came).isNotEmpty();
      List<Long> held = List.copyOf(came.keySet());
      try (Worker other = new Worker(first.uri(), Integer.MAX_VALUE)) {
        killed.kill();
        other.work(all);
        other.finish();
      }
      assertThat(came).hasSize(all);
      assertThat(held).allMatch(position -> List.of(1, 2).equals(came.get(position)));
    } finally {
      for (BusProcess process : processes.values()) {
        process.kill();
      }
    }
  }
}
