package io.eventbus.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Published;
import io.eventbus.client.Start;
import io.eventbus.client.WorkDelivery;
import io.eventbus.client.WorkHandler;
import io.eventbus.client.Worker;
import io.eventbus.client.WorkerBuilder;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers of the Java SDK, at a bus with its files. */
@Timeout(240)
class WorkersIT {
  private final List<EventBusClient> clients = new ArrayList<>();
  private BusServer bus;

  @BeforeEach
  void start(@TempDir Path files) throws Exception {
    bus =
        BusServer.start(
            ServerConfig.of(
                Map.of(
                    "listen.host",
                    "127.0.0.1",
                    "listen.port",
                    "0",
                    "listen.event-loops",
                    "2",
                    "admin.port",
                    "0",
                    "timeouts.shutdown",
                    "1s",
                    "durable.directory",
                    files.resolve("data").toString(),
                    "durable.journals",
                    "orders orders.>",
                    "auth.resume-key-file",
                    TestKey.FILE.toString())));
  }

  @AfterEach
  void end() {
    clients.forEach(client -> client.close(Duration.ZERO));
    bus.close();
  }

  private EventBusClient connect() {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  /** Publishes events whose payloads are their positions, as the only publisher. */
  private void publish(long from, long to) throws Exception {
    EventBusClient client = connect();
    List<CompletableFuture<Published>> stored = new ArrayList<>();
    for (long i = from; i <= to; i++) {
      stored.add(client.publish("orders." + i % 7, "" + i).toCompletableFuture());
    }
    for (CompletableFuture<Published> each : stored) {
      each.get(60, SECONDS);
    }
  }

  private WorkerBuilder billing() {
    return connect().durable("billing").filter("orders.>").from(Start.FIRST).shared();
  }

  private static Worker ready(Worker begun) throws Exception {
    return begun.ready().toCompletableFuture().get(60, SECONDS);
  }

  private static void end(Worker worker) throws Exception {
    worker.unsubscribe().toCompletableFuture().get(60, SECONDS);
  }

  private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(60, SECONDS);
    assertThat(next).as("within 60 s").isNotNull();
    return next;
  }

  @Test
  void workersShareTheEventsAndSettleEach() throws Exception {
    int events = 2_000;
    Map<Long, Integer> done = new ConcurrentHashMap<>();
    BlockingQueue<CompletableFuture<Void>> confirmations = new LinkedBlockingQueue<>();
    CountDownLatch left = new CountDownLatch(events);
    WorkHandler handler =
        (event, delivery) -> {
          long position = event.position();
          assertThat(event.text()).isEqualTo("" + position);
          if (position % 10 == 3 && delivery.attempt() == 1) {
            delivery.retry(Duration.ZERO);
            return;
          }
          done.merge(position, delivery.attempt(), Integer::sum);
          if (position % 10 == 5) {
            delivery.reject("no fives");
          } else if (position % 10 == 7) {
            confirmations.add(delivery.doneConfirmed().toCompletableFuture());
          }
          left.countDown();
        };
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add(ready(billing().concurrency(4).handler(handler)));
    }
    publish(1, events);
    assertThat(left.await(120, SECONDS)).isTrue();
    for (CompletableFuture<Void> each : confirmations) {
      each.get(60, SECONDS);
    }
    for (Worker worker : workers) {
      end(worker);
    }
    assertThat(done).hasSize(events);
    assertThat(done)
        .allSatisfy(
            (position, attempts) -> assertThat(attempts).isEqualTo(position % 10 == 3 ? 2 : 1));
    assertThat(confirmations).hasSize(events / 10);
    List<Worker.Counters> counters = workers.stream().map(Worker::counters).toList();
    assertThat(counters).allSatisfy(each -> assertThat(each.late()).isZero());
    assertThat(counters.stream().mapToLong(Worker.Counters::rejected).sum()).isEqualTo(events / 10);
    assertThat(counters.stream().mapToLong(Worker.Counters::retried).sum()).isEqualTo(events / 10);
    assertThat(counters.stream().mapToLong(Worker.Counters::done).sum())
        .isEqualTo(events - events / 10);
    // All is settled: the next one comes alone.
    BlockingQueue<Long> rest = new LinkedBlockingQueue<>();
    Worker last = ready(billing().handler((event, delivery) -> rest.add(event.position())));
    publish(events + 1, events + 1);
    assertThat(take(rest)).isEqualTo(events + 1);
    end(last);
    assertThat(rest).isEmpty();
  }

  @Test
  void whatAWorkerDoesNotFinishComesToAnother() throws Exception {
    BlockingQueue<WorkDelivery> kept = new LinkedBlockingQueue<>();
    Worker first =
        ready(
            billing()
                .ackTimeout(Duration.ofSeconds(1))
                .handler(
                    (event, delivery) -> {
                      delivery.defer();
                      kept.add(delivery);
                    }));
    publish(1, 1);
    WorkDelivery late = take(kept);
    assertThat(late.attempt()).isEqualTo(1);
    // The bus waits for the settlement, until the ack timeout is over.
    end(first);
    assertThatThrownBy(() -> late.doneConfirmed().toCompletableFuture().get(60, SECONDS))
        .hasCauseInstanceOf(EventBusException.ConnectionLost.class);
    BlockingQueue<String> other = new LinkedBlockingQueue<>();
    Worker second =
        ready(
            billing()
                .handler(
                    (event, delivery) -> other.add(event.position() + " " + delivery.attempt())));
    assertThat(take(other)).startsWith("1 ").isNotEqualTo("1 1");
    end(second);
  }

  @Test
  void aSettlementThatIsLateIsRefused() throws Exception {
    BlockingQueue<WorkDelivery> kept = new LinkedBlockingQueue<>();
    Worker worker =
        ready(
            billing()
                .ackTimeout(Duration.ofSeconds(1))
                .handler(
                    (event, delivery) -> {
                      delivery.defer();
                      kept.add(delivery);
                    }));
    publish(1, 1);
    WorkDelivery first = take(kept);
    WorkDelivery second = take(kept);
    assertThat(second.attempt()).isEqualTo(2);
    assertThatThrownBy(() -> first.doneConfirmed().toCompletableFuture().get(60, SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.UNKNOWN_SUBSCRIPTION));
    assertThat(worker.counters().late()).isZero();
  }
}
