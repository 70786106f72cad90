package io.eventbus.loadtest.driver.rabbitmq;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Queue with a publisher, whose readers take events out. One thread uses it. */
final class RabbitMqJournal implements DriverJournal {
  private static final int CLOSE_MILLIS = 1_000;

  private final Connection publisher;
  private final Channel channel;
  private final Connection reader;
  private final int port;
  private final String queue;

  /** Outcomes of events that are not confirmed, by the numbers of the channel. */
  private final Map<Long, Outcome> outcomes = new ConcurrentHashMap<>();

  /** Number of the first event that may be unconfirmed. The publisher's connection owns it. */
  private long first = 1;

  /** Events that were read, and are not in the queue any more. */
  private long taken;

  private RabbitMqJournal(Connection publisher, Connection reader, int port, String queue)
      throws IOException {
    this.publisher = publisher;
    this.reader = reader;
    this.port = port;
    this.queue = queue;
    this.channel = publisher.createChannel();
    channel.confirmSelect();
    channel.addConfirmListener(
        (number, multiple) -> ended(number, multiple, null),
        (number, multiple) ->
            ended(number, multiple, new DriverException("event " + number + " was refused")));
    // Its connection may go on when the channel ends.
    channel.addShutdownListener(this::endAll);
    publisher.addBlockedListener(
        new BlockedListener() {
          @Override
          public void handleBlocked(String reason) {
            endAll(new DriverException("the server takes no more events: " + reason));
          }

          @Override
          public void handleUnblocked() {
            // The run has failed already.
          }
        });
  }

  /** Declares a queue, with a member at each of at most three servers. */
  static void declare(int port, String queue) {
    Connection connection = open(port);
    try {
      connection
          .createChannel()
          .queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
    } catch (IOException e) {
      throw new DriverException("no queue " + queue, e);
    } finally {
      connection.abort(CLOSE_MILLIS);
    }
  }

  /** Connects publisher and reader to a server with an empty queue. */
  static RabbitMqJournal connect(int port, String queue) {
    Connection publisher = open(port);
    @Nullable Connection reader = null;
    boolean connected = false;
    try {
      reader = open(port);
      RabbitMqJournal journal = new RabbitMqJournal(publisher, reader, port, queue);
      connected = true;
      return journal;
    } catch (IOException e) {
      throw new DriverException("no publisher of " + queue, e);
    } finally {
      if (!connected) {
        publisher.abort(CLOSE_MILLIS);
        if (reader != null) {
          reader.abort(CLOSE_MILLIS);
        }
      }
    }
  }

  private static Connection open(int port) {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setHost("127.0.0.1");
    factory.setPort(port);
    // A connection that broke has lost confirmations: it shall not look well again.
    factory.setAutomaticRecoveryEnabled(false);
    try {
      return factory.newConnection();
    } catch (IOException | TimeoutException e) {
      throw new DriverException("cannot connect to RabbitMQ at port " + port, e);
    }
  }

  @Override
  public void publish(byte[] payload, Outcome outcome) {
    outcomes.put(channel.getNextPublishSeqNo(), outcome);
    try {
      channel.basicPublish("", queue, MessageProperties.PERSISTENT_BASIC, payload);
    } catch (IOException | ShutdownSignalException e) {
      throw new DriverException("an event to " + queue + " was not taken", e);
    }
  }

  /** Ends an event, or all up to it that have not ended; in the thread of the connection. */
  private void ended(long number, boolean multiple, @Nullable Throwable why) {
    if (multiple) {
      for (; first <= number; first++) {
        end(first, why);
      }
    } else {
      end(number, why);
    }
  }

  private void end(long number, @Nullable Throwable why) {
    @Nullable Outcome outcome = outcomes.remove(number);
    if (outcome != null) {
      outcome.ended(0, why);
    }
  }

  private void endAll(Throwable why) {
    outcomes.keySet().forEach(number -> end(number, why));
  }

  /**
   * As its interface says, but an event is read once.
   *
   * @throws DriverException also if the first event is not the next one of the queue
   */
  @Override
  public Driver.Subscriber read(long from, Driver.Receiver receiver) {
    if (from != taken + 1) {
      throw new DriverException(
          "read from: " + from + " (expected: " + (taken + 1) + ", the next event of the queue)");
    }
    try {
      return RabbitMqReader.start(reader.createChannel(), queue, receiver, count -> taken += count);
    } catch (IOException | ShutdownSignalException e) {
      throw new DriverException("no reader of " + queue, e);
    }
  }

  @Override
  public Driver.Subscriber work(int number, Driver.Receiver receiver) {
    Connection connection = open(port);
    try {
      RabbitMqReader worker =
          RabbitMqReader.startWork(
              connection.createChannel(), queue, receiver, count -> taken += count);
      return new Worker(worker, connection);
    } catch (IOException | ShutdownSignalException e) {
      connection.abort(CLOSE_MILLIS);
      throw new DriverException("no worker of " + queue, e);
    }
  }

  private record Worker(RabbitMqReader reader, Connection connection) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      try {
        reader.close();
      } finally {
        connection.abort(CLOSE_MILLIS);
      }
    }
  }

  @Override
  public void close() {
    publisher.abort(CLOSE_MILLIS);
    reader.abort(CLOSE_MILLIS);
  }
}
