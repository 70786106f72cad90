package io.eventbus.loadtest.driver.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;

/** Consumer that takes events out of a queue until it is closed. */
final class RabbitMqReader extends DefaultConsumer implements Driver.Subscriber {
  /** Events that are delivered and not acknowledged, at most. */
  private static final int PREFETCH = 2_000;

  private static final int ACKNOWLEDGE_EVERY = 500;
  private static final long TIMEOUT_SECONDS = 10;

  /** Events that a worker has, at most: as many as one of the bus. */
  private static final int WORKER_PREFETCH = 256;

  private final Driver.Receiver receiver;
  private final int acknowledgeEvery;
  private final LongConsumer taken;

  /** Latch that opens behind the last delivery. */
  private final CountDownLatch cancelled = new CountDownLatch(1);

  /** Number of the last delivery, which counts from 1. One thread at a time writes it. */
  private volatile long last;

  private RabbitMqReader(
      Channel channel, Driver.Receiver receiver, int acknowledgeEvery, LongConsumer taken) {
    super(channel);
    this.receiver = receiver;
    this.acknowledgeEvery = acknowledgeEvery;
    this.taken = taken;
  }

  /**
   * Starts to read.
   *
   * @param channel becomes the reader's own
   * @param taken told in the end how many events are not in the queue any more
   */
  static RabbitMqReader start(
      Channel channel, String queue, Driver.Receiver receiver, LongConsumer taken)
      throws IOException {
    return start(
        channel, queue, PREFETCH, new RabbitMqReader(channel, receiver, ACKNOWLEDGE_EVERY, taken));
  }

  /**
   * Starts to work: each event is acknowledged by itself.
   *
   * @param channel as for {@link #start}
   */
  static RabbitMqReader startWork(
      Channel channel, String queue, Driver.Receiver receiver, LongConsumer taken)
      throws IOException {
    return start(channel, queue, WORKER_PREFETCH, new RabbitMqReader(channel, receiver, 1, taken));
  }

  private static RabbitMqReader start(
      Channel channel, String queue, int prefetch, RabbitMqReader reader) throws IOException {
    channel.basicQos(prefetch);
    channel.basicConsume(queue, false, reader);
    return reader;
  }

  @Override
  public void handleDelivery(
      String consumerTag, Envelope envelope, AMQP.BasicProperties properties, byte[] body)
      throws IOException {
    receiver.onEvent(ByteBuffer.wrap(body));
    last = envelope.getDeliveryTag();
    if (last % acknowledgeEvery == 0) {
      getChannel().basicAck(last, acknowledgeEvery > 1);
    }
  }

  @Override
  public void handleCancelOk(String consumerTag) {
    cancelled.countDown();
  }

  @Override
  public long reportedLost() {
    return 0;
  }

  @Override
  public void close() {
    try {
      getChannel().basicCancel(getConsumerTag());
      // Deliveries that came before may still be handled.
      if (!cancelled.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new TimeoutException("not cancelled after " + TIMEOUT_SECONDS + " s");
      }
      long end = last;
      if (end % acknowledgeEvery != 0) {
        getChannel().basicAck(end, true);
      }
      getChannel().close();
      taken.accept(end);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while the reader ended", e);
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw new DriverException("the reader does not end", e);
    }
  }
}
