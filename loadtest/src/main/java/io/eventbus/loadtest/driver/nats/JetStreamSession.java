package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverData;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.workload.Workload;
import io.nats.client.Connection;
import io.nats.client.ConsumeOptions;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamOptions;
import io.nats.client.Message;
import io.nats.client.MessageConsumer;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.api.PublishAck;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Servers with a stream that has all topics of the load test. */
final class JetStreamSession implements Driver.Session {
  private static final String STREAM = "load";
  private static final long CONFIRM_SECONDS = 10;
  private static final long LEADER_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The default, two seconds, is too short while everything is cold. */
  private static final JetStreamOptions CONFIRMED_IN_TIME =
      JetStreamOptions.builder().requestTimeout(Duration.ofSeconds(CONFIRM_SECONDS)).build();

  /** Messages that a durable consumer may have unacknowledged: more than any window. */
  private static final long MAX_UNACKNOWLEDGED = 1_000_000;

  /** With the default, 500 messages at a time, a consumer is slower. */
  private static final ConsumeOptions OPTIONS = ConsumeOptions.builder().batchSize(2_000).build();

  private final NatsServers servers;
  private final DriverData data;
  private final String[] subjects;
  private final NatsConnections connections = new NatsConnections();

  private JetStreamSession(NatsServers servers, Workload workload, DriverData data) {
    this.servers = servers;
    this.data = data;
    this.subjects = new String[workload.topics()];
    for (int i = 0; i < subjects.length; i++) {
      subjects[i] = Workload.topic(i);
    }
  }

  /** Makes the stream; the session owns the servers and the directory then. */
  static JetStreamSession open(NatsServers servers, Workload workload, DriverData data) {
    JetStreamSession session = new JetStreamSession(servers, workload, data);
    try {
      addStream(session.connect("operator"), workload.cluster().servers());
      return session;
    } catch (RuntimeException e) {
      session.end();
      throw e;
    }
  }

  /** Makes the stream unless it is there. Several servers elect a leader first. */
  static void addStream(Connection connection, int replicas) {
    StreamConfiguration stream =
        StreamConfiguration.builder()
            .name(STREAM)
            .subjects(STREAM + ".>")
            .storageType(StorageType.File)
            .replicas(replicas)
            .build();
    long end = System.nanoTime() + (replicas > 1 ? LEADER_NANOS : 0);
    while (true) {
      try {
        connection.jetStreamManagement().addStream(stream);
        return;
      } catch (IOException | JetStreamApiException e) {
        if (System.nanoTime() - end > 0) {
          throw new DriverException("no stream", e);
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
  }

  /**
   * Returns a topic of the stream, of which the connections become a part.
   *
   * @param workers connects a worker, by its number
   */
  static DriverJournal journal(
      Connection publisher, Connection reader, IntFunction<Connection> workers) {
    return new StreamJournal(publisher, jetStream(publisher), reader, Workload.topic(0), workers);
  }

  private Connection connect(String name) {
    return connections.open(name, servers.get(0).url());
  }

  private static JetStream jetStream(Connection connection) {
    try {
      return connection.jetStream(CONFIRMED_IN_TIME);
    } catch (IOException e) {
      throw new DriverException("no JetStream", e);
    }
  }

  @Override
  public List<Long> serverPids() {
    return servers.pids();
  }

  @Override
  public DriverJournal journal() {
    return journal(connect("publisher"), connect("reader"), this::worker);
  }

  @Override
  public Driver.Publisher publisher(int number) {
    Connection connection = connect("publisher-" + number);
    return new StreamPublisher(connection, jetStream(connection), subjects);
  }

  /** Acknowledges what has been handled every 100 ms, as the bus's client settles. */
  @Override
  public Driver.Subscriber subscriber(int number, String filter, Driver.Receiver receiver) {
    String name = "subscriber-" + number;
    Connection connection = connect(name);
    try {
      MessageConsumer consumer =
          connection
              .getStreamContext(STREAM)
              .createOrUpdateConsumer(
                  ConsumerConfiguration.builder()
                      .durable(name)
                      .filterSubject(filter)
                      .deliverPolicy(DeliverPolicy.New)
                      .ackPolicy(AckPolicy.All)
                      .maxAckPending(MAX_UNACKNOWLEDGED)
                      .build())
              .consume(OPTIONS, new Acknowledging(receiver)::onMessage);
      return new StreamSubscriber(consumer);
    } catch (IOException | JetStreamApiException e) {
      throw new DriverException("no durable consumer of " + filter, e);
    }
  }

  @Override
  public IdleHandshake idleHandshake() {
    throw new DriverException("idle connections: none (expected: a workload with a durable topic)");
  }

  private void end() {
    try {
      connections.close();
    } finally {
      servers.close();
    }
  }

  @Override
  public void close() {
    try {
      end();
    } finally {
      data.close();
    }
  }

  /** Handler of a durable consumer. For one thread at a time. */
  private static final class Acknowledging {
    private static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Messages between two looks at the clock. */
    private static final int MASK = 63;

    private final Driver.Receiver receiver;
    private long last = System.nanoTime();
    private int count;

    Acknowledging(Driver.Receiver receiver) {
      this.receiver = receiver;
    }

    void onMessage(Message message) {
      receiver.onEvent(ByteBuffer.wrap(message.getData()));
      if ((++count & MASK) == 0 && System.nanoTime() - last > EVERY_NANOS) {
        last = System.nanoTime();
        message.ack();
      }
    }
  }

  private Connection worker(int number) {
    return connections.open("worker-" + number, servers.get(number % servers.pids().size()).url());
  }

  private record StreamJournal(
      Connection publisher,
      JetStream stream,
      Connection reader,
      String subject,
      IntFunction<Connection> workers)
      implements DriverJournal {
    @Override
    public void publish(byte[] payload, Outcome outcome) {
      try {
        var unused =
            stream
                .publishAsync(subject, payload)
                .whenComplete((ack, why) -> outcome.ended(why == null ? ack.getSeqno() : 0, why));
      } catch (IllegalStateException e) {
        throw new DriverException("an event to " + subject + " was not taken", e);
      }
    }

    @Override
    public Driver.Subscriber read(long from, Driver.Receiver receiver) {
      try {
        MessageConsumer consumer =
            reader
                .getStreamContext(STREAM)
                .createOrderedConsumer(
                    new OrderedConsumerConfiguration()
                        .filterSubject(subject)
                        .deliverPolicy(DeliverPolicy.ByStartSequence)
                        .startSequence(from))
                .consume(OPTIONS, message -> receiver.onEvent(ByteBuffer.wrap(message.getData())));
        return new StreamSubscriber(consumer);
      } catch (IOException | JetStreamApiException e) {
        throw new DriverException("no consumer of " + subject, e);
      }
    }

    @Override
    public Driver.Subscriber work(int number, Driver.Receiver receiver) {
      Connection connection = workers.apply(number);
      try {
        MessageConsumer consumer =
            connection
                .getStreamContext(STREAM)
                .createOrUpdateConsumer(
                    ConsumerConfiguration.builder()
                        .durable("work")
                        .filterSubject(subject)
                        .deliverPolicy(DeliverPolicy.All)
                        .ackPolicy(AckPolicy.Explicit)
                        .maxAckPending(MAX_UNACKNOWLEDGED)
                        .build())
                .consume(
                    OPTIONS,
                    message -> {
                      receiver.onEvent(ByteBuffer.wrap(message.getData()));
                      message.ack();
                    });
        return new StreamWorker(consumer, connection);
      } catch (IOException | JetStreamApiException e) {
        NatsConnections.close(connection);
        throw new DriverException("no worker of " + subject, e);
      }
    }

    @Override
    public void close() {
      NatsConnections.close(publisher);
      NatsConnections.close(reader);
    }
  }

  private static final class StreamPublisher implements Driver.Publisher {
    private final Connection connection;
    private final JetStream stream;
    private final String[] subjects;
    private volatile @Nullable Throwable failure;
    private @Nullable CompletableFuture<PublishAck> last;

    StreamPublisher(Connection connection, JetStream stream, String[] subjects) {
      this.connection = connection;
      this.stream = stream;
      this.subjects = subjects;
    }

    @Override
    public void publish(int topic, byte[] payload) {
      check();
      try {
        last =
            stream
                .publishAsync(subjects[topic], payload)
                .whenComplete(
                    (ack, why) -> {
                      if (why != null) {
                        failure = why;
                      }
                    });
      } catch (IllegalStateException e) {
        throw new DriverException("an event to " + subjects[topic] + " was not taken", e);
      }
    }

    private void check() {
      Throwable why = failure;
      if (why != null) {
        throw new DriverException("an event was not confirmed", why);
      }
    }

    @Override
    public void flush() {
      if (last != null) {
        try {
          last.get(CONFIRM_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new DriverException("interrupted while waiting for a confirmation", e);
        } catch (ExecutionException | TimeoutException e) {
          throw new DriverException("an event was not confirmed", e);
        }
      }
      check();
    }

    @Override
    public void close() {
      NatsConnections.close(connection);
    }
  }

  private record StreamWorker(MessageConsumer consumer, Connection connection)
      implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      consumer.stop();
      // The acknowledgements that wait in the client.
      NatsConnections.flush(connection);
      NatsConnections.close(connection);
    }
  }

  private record StreamSubscriber(MessageConsumer consumer) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      consumer.stop();
    }
  }
}
