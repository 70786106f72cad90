package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.CallLoop;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.workload.Workload;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Servers that run, and a connection for each publisher and subscriber. */
final class NatsSession implements Driver.Session {
  private static final String SERVICE = "load";

  private final NatsServers servers;
  private final Workload workload;
  private final String[] subjects;
  private final @Nullable NatsSelector selector;
  private final Map<String, Set<Integer>> subscribed = new ConcurrentHashMap<>();
  private final NatsConnections connections = new NatsConnections();

  NatsSession(NatsServers servers, Workload workload, boolean sharedThread) {
    this.servers = servers;
    this.workload = workload;
    this.selector = sharedThread ? new NatsSelector() : null;
    this.subjects = new String[workload.topics()];
    for (int i = 0; i < subjects.length; i++) {
      subjects[i] = Workload.topic(i);
    }
  }

  @Override
  public List<Long> serverPids() {
    return servers.pids();
  }

  @Override
  public Driver.Publisher publisher(int number) {
    int server = workload.cluster().serverOfPublisher(number);
    // A server that has a subscription tells the others of it some time later.
    subscribed.forEach((filter, at) -> servers.awaitInterest(server, filter, at));
    return new NatsPublisher(connect("publisher-" + number, server), subjects);
  }

  @Override
  public Driver.Subscriber subscriber(int number, String filter, Driver.Receiver receiver) {
    int server = workload.cluster().serverOfSubscriber(number);
    subscribed.computeIfAbsent(filter, f -> ConcurrentHashMap.newKeySet()).add(server);
    if (selector != null) {
      int port = URI.create(servers.get(server).url()).getPort();
      return selector.subscribe(port, filter, receiver);
    }
    Connection connection = connect("subscriber-" + number, server);
    Dispatcher dispatcher =
        connection.createDispatcher(
            message -> receiver.onEvent(ByteBuffer.wrap(message.getData())));
    // Filters have the same form in NATS.
    dispatcher.subscribe(filter);
    // The answer to the ping in it comes after the server has the subscription.
    NatsConnections.flush(connection);
    return new NatsSubscriber(connection, dispatcher);
  }

  @Override
  public DriverCalls calls() {
    CallLoop loop = new CallLoop(workload.calls(), workload.payloadBytes());
    Connection member = connect("member", 0);
    Dispatcher dispatcher =
        member.createDispatcher(
            request -> member.publish(request.getReplyTo(), loop.serve(request.getData())));
    // Members of a service share its requests.
    dispatcher.subscribe(SERVICE, SERVICE);
    NatsConnections.flush(member);
    Connection caller = connect("caller", 0);
    return loop.with(payload -> caller.request(SERVICE, payload).thenApply(Message::getData));
  }

  private Connection connect(String name, int server) {
    return connections.open(name, servers.get(server).url());
  }

  @Override
  public IdleHandshake idleHandshake() {
    URI address = URI.create(servers.get(0).url());
    byte[] greeting =
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"java\",\"protocol\":1}\r\nPING\r\n"
            .getBytes(StandardCharsets.US_ASCII);
    return new IdleHandshake(
        address.getPort(),
        address.getScheme().equals("ws") ? "/" : "",
        "",
        ByteBuffer.wrap(greeting),
        IdleHandshake.text("PONG"));
  }

  @Override
  public void close() {
    try {
      if (selector != null) {
        selector.close();
      }
      connections.close();
    } finally {
      servers.close();
    }
  }

  /** The client's writer thread collects what is published and sends it without being told. */
  private static final class NatsPublisher implements Driver.Publisher {
    private final Connection connection;
    private final String[] subjects;

    NatsPublisher(Connection connection, String[] subjects) {
      this.connection = connection;
      this.subjects = subjects;
    }

    @Override
    public void publish(int topic, byte[] payload) {
      try {
        connection.publish(subjects[topic], payload);
      } catch (IllegalStateException e) {
        throw new DriverException("an event to " + subjects[topic] + " was not taken", e);
      }
    }

    @Override
    public void flush() {
      NatsConnections.flush(connection);
    }

    @Override
    public void close() {
      NatsConnections.close(connection);
    }
  }

  private record NatsSubscriber(Connection connection, Dispatcher dispatcher)
      implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      // Events that the client dropped because its own queue was full.
      return dispatcher.getDroppedCount();
    }

    @Override
    public void close() {
      NatsConnections.close(connection);
    }
  }
}
