package io.eventbus.client.internal.inbound;

import io.eventbus.client.ReceivedEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Event whose payload is still in the message that it came in. */
final class DeliveredEvent implements ReceivedEvent {
  private final ByteBuffer memory;
  private final int payloadStart;
  private final int payloadLength;
  private final String topic;
  private final long producer;
  private final long sequence;
  private final long schema;
  private final long publishedAt;
  private final long receivedAt;
  private final @Nullable String key;
  private final Map<String, String> headers;

  DeliveredEvent(InboundDelivery delivery, io.eventbus.protocol.EventCursor event) {
    memory = delivery.message;
    payloadStart = event.payloadStart();
    payloadLength = event.payloadLength();
    topic = delivery.origin.topic.name;
    producer = delivery.origin.producer;
    sequence = delivery.sequence + event.index();
    schema = delivery.schema;
    publishedAt = event.publishedAt();
    receivedAt = delivery.receivedAt;
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
