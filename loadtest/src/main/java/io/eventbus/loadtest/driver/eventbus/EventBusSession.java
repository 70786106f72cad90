package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.SendResult;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.WhenFull;
import io.eventbus.loadtest.driver.CallLoop;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.workload.Login;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Hello;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Buses that run, and a client of the SDK for each publisher and subscriber. */
final class EventBusSession implements Driver.Session {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final Duration CLOSE_TOGETHER = Duration.ofSeconds(5);
  private static final Duration DRAIN_TOGETHER = Duration.ofSeconds(2);
  private static final String SERVICE = "load";

  /**
   * More than are in flight. The handler takes no time, but with the default, 16, the bus refuses
   * many of a thousand calls while the member's JVM is cold.
   */
  private static final int MEMBER_CONCURRENCY = 2_000;

  private final BusCluster cluster;
  private final Workload workload;
  private final List<LoadTestBus> buses;
  private final String[] topics;
  private final Queue<EventBusClient> clients = new ConcurrentLinkedQueue<>();
  private final Queue<EventBusClient> publishers = new ConcurrentLinkedQueue<>();

  EventBusSession(BusCluster cluster, Workload workload) {
    this.cluster = cluster;
    this.workload = workload;
    this.buses = cluster.buses();
    this.topics = new String[workload.topics()];
    for (int i = 0; i < topics.length; i++) {
      topics[i] = Workload.topic(i);
    }
  }

  @Override
  public List<Long> serverPids() {
    return buses.stream().map(LoadTestBus::pid).toList();
  }

  @Override
  public Driver.Publisher publisher(int number) {
    EventBusClient client =
        connect("publisher-" + number, workload.cluster().serverOfPublisher(number));
    publishers.add(client);
    return workload.durable() == null
        ? new BusPublisher(client, topics)
        : new ConfirmedPublisher(client, topics);
  }

  @Override
  public Driver.Subscriber subscriber(int number, String filter, Driver.Receiver receiver) {
    EventBusClient client =
        connect("subscriber-" + number, workload.cluster().serverOfSubscriber(number));
    if (workload.durable() != null) {
      return BusJournal.consume(client, "subscriber-" + number, filter, receiver);
    }
    Subscription subscription =
        client.subscribe(
            filter, event -> receiver.onEvent(event.payloadBuffer(), event.receivedAtMicros()));
    await(subscription.ready(), "no subscription to " + filter);
    return new BusSubscriber(client, subscription);
  }

  @Override
  public DriverJournal journal() {
    EventBusClient publisher = connect("publisher", 0);
    publishers.add(publisher);
    return new BusJournal(
        publisher,
        connect("reader", 0),
        topics[0],
        number -> connect("worker-" + number, workload.cluster().serverOfSubscriber(number)));
  }

  /** Waits for a stage, at most ten seconds. */
  static void await(CompletionStage<?> ready, String problem) {
    try {
      ready.toCompletableFuture().get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException(problem + ": interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new DriverException(problem, e);
    }
  }

  @Override
  public IdleHandshake idleHandshake() {
    URI address = URI.create(buses.get(0).url());
    if (workload.login() != Login.NONE) {
      // The first token takes a bus that has just started far longer than those after it.
      connect("first", 0).close(Duration.ZERO);
    }
    // Signed before anything is measured.
    List<ByteBuffer> greetings = new ArrayList<>();
    for (int i = 0; i < Math.max(1, workload.idle()); i++) {
      String token = cluster.logins().token("idle-" + i);
      Hello hello = new Hello("idle", "loadtest", token, null, Map.of(), null, null, null);
      greetings.add(ByteBuffer.wrap(ControlFrames.encode(TypeCode.HELLO, hello)));
    }
    return new IdleHandshake(
        address.getPort(),
        address.getPath(),
        "eventbus.v1.avro",
        number -> greetings.get(number % greetings.size()),
        IdleHandshake.firstByte(TypeCode.WELCOME.code() << 1));
  }

  @Override
  public DriverCalls calls() {
    CallLoop loop = new CallLoop(workload.calls(), workload.payloadBytes());
    ServiceOptions options = ServiceOptions.DEFAULT.withConcurrency(MEMBER_CONCURRENCY);
    Service service =
        connect("member", 0)
            .serve(
                SERVICE,
                options,
                request ->
                    CompletableFuture.completedFuture(
                        Event.of(loop.serve(request.event().payload()))));
    await(service.ready(), "no member of " + SERVICE);
    EventBusClient caller = connect("caller", 0);
    return loop.with(
        payload ->
            caller
                .request(SERVICE, Event.of(payload))
                .thenApply(answer -> answer.event().payload()));
  }

  private EventBusClient connect(String name, int bus) {
    String url = buses.get(bus).url();
    try {
      EventBusClient client =
          EventBusClient.builder()
              .url(url)
              .name(name)
              .token(cluster.logins().token(name))
              .whenFull(WhenFull.BLOCK)
              .connect();
      clients.add(client);
      return client;
    } catch (EventBusException e) {
      throw new DriverException(name + " cannot connect to " + url, e);
    }
  }

  @Override
  public void close() {
    try {
      // Everything has been received or given up by now, but a publisher that has not asked whether
      // the bus has it tells of events that may be lost.
      long drained = System.nanoTime() + DRAIN_TOGETHER.toNanos();
      for (EventBusClient publisher : publishers) {
        long left = drained - System.nanoTime();
        if (left > 0) {
          publisher.close(Duration.ofNanos(left));
        }
      }
      long end = System.nanoTime() + CLOSE_TOGETHER.toNanos();
      for (EventBusClient client : clients) {
        if (System.nanoTime() < end) {
          client.close(Duration.ZERO);
        }
      }
    } finally {
      cluster.close();
    }
  }

  private static final class BusPublisher implements Driver.Publisher {
    private final EventBusClient client;
    private final String[] topics;

    BusPublisher(EventBusClient client, String[] topics) {
      this.client = client;
      this.topics = topics;
    }

    @Override
    public void publish(int topic, byte[] payload) {
      try {
        SendResult result = client.send(topics[topic], payload);
        if (!result.accepted()) {
          throw new DriverException("an event to " + topics[topic] + " was not taken: " + result);
        }
      } catch (EventBusException e) {
        throw new DriverException("an event to " + topics[topic] + " was not taken", e);
      }
    }

    @Override
    public void flush() {
      try {
        client.flush(DEADLINE);
      } catch (EventBusException e) {
        throw new DriverException("the publisher could not be flushed", e);
      }
    }

    @Override
    public void close() {
      client.close(Duration.ZERO);
    }
  }

  private record BusSubscriber(EventBusClient client, Subscription subscription)
      implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return subscription.counters().missing();
    }

    @Override
    public void close() {
      client.close(Duration.ZERO);
    }
  }
}
