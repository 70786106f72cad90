package io.eventbus.loadtest.driver.kafka;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A partition, of which offsets count from 0 and positions from 1. */
record KafkaJournal(Producer<byte[], byte[]> producer, String addresses, TopicPartition partition)
    implements DriverJournal {
  private static final Duration CLOSE = Duration.ofSeconds(1);

  /**
   * Connects the publisher.
   *
   * @param serial whether an event is published when the one before is confirmed, so that waiting
   *     for others to fill a batch is in vain
   */
  static KafkaJournal connect(String addresses, TopicPartition partition, boolean serial) {
    Map<String, Object> settings = new HashMap<>();
    settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, addresses);
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    if (serial) {
      settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    }
    try {
      return new KafkaJournal(
          new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()),
          addresses,
          partition);
    } catch (KafkaException e) {
      throw new DriverException("no publisher of " + partition, e);
    }
  }

  @Override
  public void publish(byte[] payload, Outcome outcome) {
    try {
      var unused =
          producer.send(
              new ProducerRecord<>(partition.topic(), partition.partition(), null, payload),
              (stored, why) -> outcome.ended(why == null ? stored.offset() + 1 : 0, why));
    } catch (KafkaException | IllegalStateException e) {
      throw new DriverException("an event to " + partition + " was not taken", e);
    }
  }

  @Override
  public Driver.Subscriber read(long from, Driver.Receiver receiver) {
    try {
      Consumer<byte[], byte[]> consumer =
          new KafkaConsumer<>(
              Map.of(
                  ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                  addresses,
                  // An offset that is not there is a fault.
                  ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                  "none"),
              new ByteArrayDeserializer(),
              new ByteArrayDeserializer());
      return KafkaReader.start(consumer, partition, from - 1, receiver);
    } catch (KafkaException e) {
      throw new DriverException("no reader of " + partition, e);
    }
  }

  @Override
  public void close() {
    producer.close(CLOSE);
  }
}
