package io.eventbus.client.internal.inbound;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Event whose payload is still in the message that it came in. */
public final class DeliveredEvent implements ReceivedEvent {
  private final ByteBuffer memory;
  private final int payloadStart;
  private final int payloadLength;
  private final String topic;
  private final long producer;
  private final long sequence;
  private final long position;
  private final long schema;
  private final long publishedAt;
  private final long receivedAt;
  private final @Nullable String key;
  private final Map<String, String> headers;

  DeliveredEvent(InboundDelivery delivery, EventCursor event) {
    this(
        delivery.message,
        event,
        delivery.origin.topic.name,
        delivery.durable == null ? delivery.origin.producer : delivery.durable.producer(),
        event.index()
            + (delivery.durable == null ? delivery.sequence : delivery.durable.sequence()),
        delivery.durable == null ? 0 : delivery.durable.position() + event.index(),
        delivery.schema,
        delivery.receivedAt);
  }

  /**
   * Creates the event of a consumer.
   *
   * @param message in which {@code event} stands on it
   * @param deliver the frame that it is of
   */
  public DeliveredEvent(ByteBuffer message, EventCursor event, String topic, DeliverView deliver) {
    this(
        message,
        event,
        topic,
        deliver.originProducer(),
        deliver.originSequence() + event.index(),
        deliver.offset() + event.index(),
        deliver.schema(),
        deliver.receivedAt());
  }

  private DeliveredEvent(
      ByteBuffer message,
      EventCursor event,
      String topic,
      long producer,
      long sequence,
      long position,
      long schema,
      long receivedAt) {
    memory = message;
    payloadStart = event.payloadStart();
    payloadLength = event.payloadLength();
    this.topic = topic;
    this.producer = producer;
    this.sequence = sequence;
    this.position = position;
    this.schema = schema;
    publishedAt = event.publishedAt();
    this.receivedAt = receivedAt;
    key = event.key();
    headers = event.headerCount() == 0 ? Map.of() : Collections.unmodifiableMap(event.headers());
  }

  private DeliveredEvent(DeliveredEvent other) {
    memory = ByteBuffer.wrap(other.payload());
    payloadStart = 0;
    payloadLength = other.payloadLength;
    topic = other.topic;
    producer = other.producer;
    sequence = other.sequence;
    position = other.position;
    schema = other.schema;
    publishedAt = other.publishedAt;
    receivedAt = other.receivedAt;
    key = other.key;
    headers = other.headers;
  }

  @Override
  public String topic() {
    return topic;
  }

  @Override
  public byte[] payload() {
    byte[] bytes = new byte[payloadLength];
    memory.get(payloadStart, bytes);
    return bytes;
  }

  @Override
  public ByteBuffer payloadBuffer() {
    return memory.slice(payloadStart, payloadLength).asReadOnlyBuffer();
  }

  @Override
  public String text() {
    return new String(payload(), StandardCharsets.UTF_8);
  }

  @Override
  public @Nullable String key() {
    return key;
  }

  @Override
  public Map<String, String> headers() {
    return headers;
  }

  @Override
  public long publishedAtMicros() {
    return publishedAt;
  }

  @Override
  public long receivedAtMicros() {
    return receivedAt;
  }

  @Override
  public long producer() {
    return producer;
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public long schema() {
    return schema;
  }

  @Override
  public ReceivedEvent detached() {
    return new DeliveredEvent(this);
  }

  @Override
  public String toString() {
    return "ReceivedEvent["
        + topic
        + " "
        + producer
        + "/"
        + sequence
        + ", "
        + payloadLength
        + " bytes]";
  }
}
