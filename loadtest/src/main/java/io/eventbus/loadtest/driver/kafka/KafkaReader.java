package io.eventbus.loadtest.driver.kafka;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/** Reader of a partition, with a thread of its own until it is closed. */
final class KafkaReader implements Driver.Subscriber {
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration CLOSE = Duration.ofSeconds(5);

  private final Consumer<byte[], byte[]> consumer;
  private final TopicPartition partition;
  private final Driver.Receiver receiver;
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable KafkaException failure;

  private KafkaReader(
      Consumer<byte[], byte[]> consumer, TopicPartition partition, Driver.Receiver receiver) {
    this.consumer = consumer;
    this.partition = partition;
    this.receiver = receiver;
    this.thread = new Thread(this::read, "kafka-reader");
    thread.setDaemon(true);
  }

  /** Reads from an offset on; the consumer is the reader's own. */
  static KafkaReader start(
      Consumer<byte[], byte[]> consumer,
      TopicPartition partition,
      long offset,
      Driver.Receiver receiver) {
    consumer.assign(List.of(partition));
    consumer.seek(partition, offset);
    KafkaReader reader = new KafkaReader(consumer, partition, receiver);
    reader.thread.start();
    return reader;
  }

  private void read() {
    try {
      while (!closed) {
        for (ConsumerRecord<byte[], byte[]> stored : consumer.poll(POLL)) {
          receiver.onEvent(ByteBuffer.wrap(stored.value()));
        }
      }
    } catch (WakeupException e) {
      // Closed.
      return;
    } catch (KafkaException e) {
      failure = e;
    } finally {
      consumer.close(CloseOptions.timeout(CLOSE));
    }
  }

  @Override
  public long reportedLost() {
    return 0;
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    KafkaException why = failure;
    if (why != null) {
      throw new DriverException("the reader of " + partition + " failed", why);
    }
  }
}
