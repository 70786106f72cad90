package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.protocol.TopicFilter;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Publishers and subscribers at several buses while something happens to these. Each publisher has
 * a topic of its own, so that a subscriber's events of a topic have one order. For one thread.
 */
final class Traffic implements AutoCloseable {
  private final List<Publisher> publishers = new ArrayList<>();
  private final List<Subscriber> subscribers = new ArrayList<>();
  private volatile boolean stopped;

  /** A client, and what happened to its connection. Its methods are for any thread. */
  abstract static class Client implements ConnectionListener, AutoCloseable {
    final String name;
    final EventBusClient client;
    final BlockingQueue<String> moves = new LinkedBlockingQueue<>();
    final AtomicInteger cuts = new AtomicInteger();
    private volatile String bus = "";
    private volatile long goodSince;

    Client(SystemBus at, String name, List<SystemBus> others) {
      this.name = name;
      var builder =
          EventBusClient.builder()
              .url(at.uri())
              .name(name)
              .listener(this)
              .confirmTimeout(Duration.ofSeconds(60))
              .reconnect(
                  new ReconnectPolicy(
                      Duration.ofMillis(20), Duration.ofMillis(200), 2, 0.5, Integer.MAX_VALUE));
      others.forEach(other -> builder.url(other.uri()));
      client = builder.connect();
    }

    /** The bus where it is, as it was told last. */
    String bus() {
      return bus;
    }

    /** Time at which it was served again after its connection was last cut. */
    long servedAgainNanos() {
      return goodSince;
    }

    /** The bus has done something for it. */
    void served() {
      if (goodSince == 0) {
        goodSince = System.nanoTime();
      }
    }

    @Override
    public void connected(ConnectionInfo connection) {
      bus = connection.bus();
    }

    @Override
    public void busChanged(ConnectionInfo before, ConnectionInfo now) {
      bus = now.bus();
      moves.add(now.bus());
    }

    @Override
    public void busChangeFailed(URI url, String why) {
      moves.add("stays: " + why);
    }

    @Override
    public void disconnected(int code, String reason, boolean willReconnect) {
      if (willReconnect) {
        cuts.incrementAndGet();
        goodSince = 0;
      }
    }

    @Override
    public void close() {
      client.close(Duration.ZERO);
    }
  }

  /** Publishes numbers, confirmed. */
  final class Publisher extends Client {
    final String topic;
    private final Thread thread;
    private final AtomicInteger confirmed = new AtomicInteger();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private volatile int published;

    Publisher(SystemBus at, String topic, int perSecond, List<SystemBus> others) {
      super(at, "publisher of " + topic, others);
      this.topic = topic;
      long period = TimeUnit.SECONDS.toNanos(1) / perSecond;
      thread = new Thread(() -> run(period), name);
    }

    private void run(long period) {
      long next = System.nanoTime();
      while (!stopped) {
        int number = published + 1;
        published = number;
        client
            .publish(topic, Integer.toString(number))
            .whenComplete(
                (done, failure) -> {
                  if (failure == null) {
                    confirmed.incrementAndGet();
                    served();
                  } else {
                    failures.add(failure);
                  }
                });
        next += period;
        LockSupport.parkNanos(next - System.nanoTime());
      }
    }

    @Override
    public void producerChanged(long before, long now) {
      failures.add(new AssertionError("publishes as " + now + " instead of " + before));
    }
  }

  /** Subscribes to filters, and keeps what it sees. */
  static final class Subscriber extends Client {
    final Streams streams = new Streams();
    private final TopicFilter filter;

    Subscriber(SystemBus at, String name, TopicFilter filter, List<SystemBus> others) {
      super(at, name, others);
      this.filter = filter;
    }

    /** Of what was published, what is for it. */
    Map<String, Integer> of(Map<String, Integer> published) {
      Map<String, Integer> own = new HashMap<>(published);
      own.keySet().removeIf(topic -> !filter.matches(topic));
      return own;
    }

    private void onEvent(ReceivedEvent event) {
      streams.accept(event);
      served();
    }

    @Override
    public void gap(Gap gap) {
      streams.accept(gap);
    }
  }

  Publisher publisher(SystemBus at, String topic, int perSecond, SystemBus... others) {
    Publisher publisher = new Publisher(at, topic, perSecond, List.of(others));
    publishers.add(publisher);
    return publisher;
  }

  Subscriber subscriber(SystemBus at, String name, String filter, SystemBus... others)
      throws Exception {
    Subscriber subscriber = new Subscriber(at, name, TopicFilter.parse(filter), List.of(others));
    subscribers.add(subscriber);
    subscriber
        .client
        .subscribe(filter, subscriber::onEvent)
        .ready()
        .toCompletableFuture()
        .get(SystemBus.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    return subscriber;
  }

  List<Subscriber> subscribers() {
    return subscribers;
  }

  /** All clients. */
  List<Client> clients() {
    List<Client> all = new ArrayList<>(publishers);
    all.addAll(subscribers);
    return all;
  }

  /** Begins to publish, as far as it has not, and waits until everybody has got some. */
  void start(int events) {
    for (Publisher publisher : publishers) {
      if (publisher.thread.getState() == Thread.State.NEW) {
        publisher.thread.start();
      }
    }
    awaitMore(events);
  }

  /** Waits until every subscriber has got an event of its topics that is published from now on. */
  void awaitMore(int events) {
    awaitMore(events, publishers, subscribers);
  }

  /** The same while one bus is cut off: of events of its own side for each subscriber. */
  void awaitMoreOfEachSide(int events, List<Publisher> all, SystemBus alone) {
    for (boolean there : new boolean[] {true, false}) {
      awaitMore(
          events,
          all.stream().filter(p -> p.bus().equals(alone.name()) == there).toList(),
          subscribers.stream().filter(s -> s.bus().equals(alone.name()) == there).toList());
    }
  }

  /** The same of some publishers and some subscribers. */
  static void awaitMore(int events, List<Publisher> of, List<Subscriber> at) {
    Map<String, Integer> from = new HashMap<>();
    of.forEach(p -> from.put(p.topic, p.published));
    for (Subscriber subscriber : at) {
      subscriber
          .of(from)
          .forEach(
              (topic, number) ->
                  SystemCluster.await(
                      () -> subscriber.streams.last(topic) >= number + events,
                      () ->
                          subscriber.name
                              + " at "
                              + subscriber.bus()
                              + " has "
                              + subscriber.streams.last(topic)
                              + " of "
                              + topic
                              + " (expected: "
                              + (number + events)
                              + ")"));
    }
  }

  /** Ends publishing, waits until all is confirmed and the last event is everywhere. */
  Map<String, Integer> finish() throws InterruptedException {
    stopped = true;
    Map<String, Integer> published = new HashMap<>();
    for (Publisher publisher : publishers) {
      publisher.thread.join(SystemBus.DEADLINE.toMillis());
      SystemCluster.await(
          () -> publisher.confirmed.get() + publisher.failures.size() >= publisher.published,
          () -> publisher.name + ": " + publisher.confirmed + " of " + publisher.published);
      assertThat(publisher.failures).as(publisher.name).isEmpty();
      published.put(publisher.topic, publisher.published);
    }
    for (Subscriber subscriber : subscribers) {
      subscriber
          .of(published)
          .forEach(
              (topic, number) ->
                  SystemCluster.await(
                      () -> subscriber.streams.last(topic) == number,
                      () ->
                          subscriber.name
                              + " has "
                              + subscriber.streams.last(topic)
                              + " of "
                              + topic
                              + " (expected: "
                              + number
                              + ")"));
    }
    return published;
  }

  @Override
  public void close() {
    stopped = true;
    clients().forEach(Client::close);
  }
}
