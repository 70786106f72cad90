package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;

/** Clients of a {@link FakeBus}, whose clock a test moves. They are closed after the test. */
public abstract class ClientFixture {
  protected static final long[] NO_GROUP = {};

  protected final FakeClock clock = new FakeClock();
  protected final ManualScheduler scheduler = new ManualScheduler(clock);
  protected final FakeBus bus = new FakeBus();
  private final Queue<EventBusClient> clients = new ConcurrentLinkedQueue<>();

  /** Returns the settings that all clients of the test have. */
  protected ClientBuilder settings() {
    return EventBusClient.builder().url("ws://one/bus");
  }

  protected final EventBusClient connect() throws Exception {
    return connect(settings -> settings);
  }

  protected final EventBusClient connect(UnaryOperator<ClientBuilder> also) throws Exception {
    return get(start(also));
  }

  /** Starts a client with further settings. */
  protected final CompletableFuture<EventBusClient> start(UnaryOperator<ClientBuilder> also) {
    return ClientParts.wire(also.apply(settings()).options(), bus.outside(scheduler, clock))
        .start()
        .whenComplete(
            (client, failure) -> {
              if (client != null) {
                clients.add(client);
              }
            });
  }

  /** Waits for a condition, which is looked at each millisecond. */
  protected static void until(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("within 60 s").isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  @AfterEach
  protected final void closeClients() {
    clients.forEach(client -> client.close(Duration.ZERO));
  }

  /** Has the bus deliver events of producer 5 over the last connection. */
  protected final void deliver(String topic, long sequence, String... payloads) {
    bus.connection().message(FakeBus.deliver(topic, 5, sequence, NO_GROUP, payloads));
  }

  protected static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  protected static Throwable failure(CompletionStage<?> stage) throws Exception {
    try {
      throw new AssertionError("expected a failure, not " + get(stage));
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }

  protected static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(60, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("nothing within 60 s");
    }
    return next;
  }

  protected static <T> List<T> take(BlockingQueue<T> queue, int count) throws InterruptedException {
    List<T> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(take(queue));
    }
    return taken;
  }
}
