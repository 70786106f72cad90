package io.eventbus.cli.client;

import io.eventbus.client.ReceivedEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Received event made of plain values. */
public record FakeEvent(
    String topic,
    @Nullable String key,
    Map<String, String> headers,
    List<Byte> bytes,
    long schema,
    long position)
    implements ReceivedEvent {

  public static FakeEvent of(
      String topic, @Nullable String key, Map<String, String> headers, String payload) {
    return of(topic, key, headers, payload.getBytes(StandardCharsets.UTF_8));
  }

  public static FakeEvent of(
      String topic, @Nullable String key, Map<String, String> headers, byte[] payload) {
    Byte[] boxed = new Byte[payload.length];
    Arrays.setAll(boxed, i -> payload[i]);
    return new FakeEvent(topic, key, headers, List.of(boxed), 0, 0);
  }

  /** Returns it as an event of a durable topic. */
  public FakeEvent at(long place) {
    return new FakeEvent(topic, key, headers, bytes, schema, place);
  }

  @Override
  public byte[] payload() {
    byte[] payload = new byte[bytes.size()];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = bytes.get(i);
    }
    return payload;
  }

  @Override
  public ByteBuffer payloadBuffer() {
    return ByteBuffer.wrap(payload()).asReadOnlyBuffer();
  }

  @Override
  public String text() {
    return new String(payload(), StandardCharsets.UTF_8);
  }

  @Override
  public long publishedAtMicros() {
    return 1_000_001;
  }

  @Override
  public long receivedAtMicros() {
    return 2_000_002;
  }

  @Override
  public long producer() {
    return 7;
  }

  @Override
  public long sequence() {
    return 8;
  }

  @Override
  public ReceivedEvent detached() {
    return this;
  }
}
