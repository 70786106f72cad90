package io.eventbus.client;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Event as a subscriber gets it.
 *
 * <p>Immutable; any thread may use it for any time. An event may share memory with the WebSocket
 * message that it came in; {@link #detached} gives one that does not, for events that are kept.
 */
public interface ReceivedEvent {
  /**
   * Returns the topic that it was published to.
   *
   * @return the topic
   */
  String topic();

  /**
   * Returns the payload.
   *
   * @return a new array that belongs to the caller
   */
  byte[] payload();

  /**
   * Returns the payload without copying it.
   *
   * @return a new read-only buffer over the payload, from its position to its limit
   */
  ByteBuffer payloadBuffer();

  /**
   * Returns the payload as text.
   *
   * @return the payload decoded as UTF-8; malformed bytes show as U+FFFD
   */
  String text();

  /**
   * Returns the key.
   *
   * @return the key, or null for none
   */
  @Nullable String key();

  /**
   * Returns the headers.
   *
   * @return an immutable map, empty for none
   */
  Map<String, String> headers();

  /**
   * Returns the time of publication.
   *
   * @return microseconds since the epoch, by the publisher's clock
   */
  long publishedAtMicros();

  /**
   * Returns the time when the first bus received it.
   *
   * @return microseconds since the epoch, by that bus's clock
   */
  long receivedAtMicros();

  /**
   * Returns the time of publication.
   *
   * @return the time by the publisher's clock, to the microsecond
   */
  default Instant publishedAt() {
    return Micros.toInstant(publishedAtMicros());
  }

  /**
   * Returns the time when the first bus received it.
   *
   * @return the time by that bus's clock, to the microsecond
   */
  default Instant receivedAt() {
    return Micros.toInstant(receivedAtMicros());
  }

  /**
   * Returns the publisher.
   *
   * @return the publisher's number, unique in the cluster
   */
  long producer();

  /**
   * Returns its number among the producer's events of the topic.
   *
   * @return 1 or more
   */
  long sequence();

  /**
   * Returns its position in its journal.
   *
   * @return 1 or more; 0 if its topic is not durable
   */
  default long position() {
    return 0;
  }

  /**
   * Returns the fingerprint of the schema that the payload was written with.
   *
   * @return CRC-64-AVRO, or 0 for none
   */
  long schema();

  /**
   * Returns the same event in memory of its own.
   *
   * @return an event that does not keep the WebSocket message alive
   */
  ReceivedEvent detached();
}
