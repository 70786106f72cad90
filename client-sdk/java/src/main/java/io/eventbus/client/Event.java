package io.eventbus.client;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Event to be published: a payload, and optionally a key, headers and a time.
 *
 * <p>Immutable, except that the payload's array is not copied: do not change it until the call that
 * publishes the event has returned. The same event may be published any number of times.
 */
public final class Event {
  /** Value that stands for "the moment of the call to publish". */
  static final long NOW = Long.MIN_VALUE;

  private final byte[] payload;
  private final @Nullable String key;
  private final Map<String, String> headers;
  private final long publishedAt;
  private final long schema;

  private Event(Builder builder) {
    payload = builder.payload;
    key = builder.key;
    headers = builder.headers.isEmpty() ? Map.of() : Map.copyOf(builder.headers);
    publishedAt = builder.publishedAt;
    schema = builder.schema;
  }

  /**
   * Creates an event of bytes.
   *
   * @param payload any bytes, not copied
   * @return an event without key and headers
   */
  public static Event of(byte[] payload) {
    return builder(payload).build();
  }

  /**
   * Creates an event of text.
   *
   * @param text the payload, encoded in UTF-8
   * @return an event without key and headers
   */
  public static Event of(String text) {
    return builder(text).build();
  }

  /**
   * Creates an event of a value, with the fingerprint of its schema.
   *
   * @param <T> the type of the value
   * @param codec encodes the value
   * @param value the payload
   * @return an event without key and headers
   * @throws EventBusException.UnreadablePayload if the codec cannot encode the value
   */
  public static <T> Event of(PayloadCodec<T> codec, T value) {
    return builder(codec, value).build();
  }

  /**
   * Starts an event of bytes.
   *
   * @param payload any bytes, not copied
   * @return a builder
   */
  public static Builder builder(byte[] payload) {
    return new Builder(payload, 0);
  }

  /**
   * Starts an event of text.
   *
   * @param text the payload, encoded in UTF-8
   * @return a builder
   */
  public static Builder builder(String text) {
    return new Builder(text.getBytes(StandardCharsets.UTF_8), 0);
  }

  /**
   * Starts an event of a value, with the fingerprint of its schema.
   *
   * @param <T> the type of the value
   * @param codec encodes the value
   * @param value the payload
   * @return a builder
   * @throws EventBusException.UnreadablePayload if the codec cannot encode the value
   */
  public static <T> Builder builder(PayloadCodec<T> codec, T value) {
    return new Builder(codec.encode(value), codec.fingerprint());
  }

  /**
   * Returns the payload.
   *
   * @return the array itself, not a copy
   */
  public byte[] payload() {
    return payload;
  }

  /**
   * Returns the payload as text.
   *
   * @return the payload decoded as UTF-8; malformed bytes show as U+FFFD
   */
  public String text() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  /**
   * Returns the key, which the overflow policy CONFLATE and compaction use.
   *
   * @return the key, or null for none
   */
  public @Nullable String key() {
    return key;
  }

  /**
   * Returns the headers.
   *
   * @return an immutable map, empty for none
   */
  public Map<String, String> headers() {
    return headers;
  }

  /**
   * Returns whether the event has a time of its own.
   *
   * @return false if the time is that of the call that publishes it
   */
  public boolean hasPublishedAt() {
    return publishedAt != NOW;
  }

  /**
   * Returns the time that was set.
   *
   * @return microseconds since the epoch; meaningless without {@link #hasPublishedAt}
   */
  public long publishedAtMicros() {
    return publishedAt;
  }

  /**
   * Returns the fingerprint of the schema that the payload was written with.
   *
   * @return CRC-64-AVRO, or 0 for none
   */
  public long schema() {
    return schema;
  }

  @Override
  public String toString() {
    return "Event[" + payload.length + " bytes, key=" + key + ", headers=" + headers + "]";
  }

  /** Builder of an {@link Event}; for one thread. */
  public static final class Builder {
    private final byte[] payload;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private @Nullable String key;
    private long publishedAt = NOW;
    private long schema;

    private Builder(byte[] payload, long schema) {
      this.payload = Objects.requireNonNull(payload, "payload");
      this.schema = schema;
    }

    /**
     * Sets the key.
     *
     * @param newKey at most 4096 bytes of UTF-8, or null for none
     * @return this builder
     */
    public Builder key(@Nullable String newKey) {
      this.key = newKey;
      return this;
    }

    /**
     * Sets a header, in place of an earlier one of the same name.
     *
     * @param name any text
     * @param value any text; names and values together at most 16 KiB unless the bus says otherwise
     * @return this builder
     */
    public Builder header(String name, String value) {
      headers.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * Adds headers.
     *
     * @param more names and values; copied
     * @return this builder
     */
    public Builder headers(Map<String, String> more) {
      more.forEach(this::header);
      return this;
    }

    /**
     * Sets the time of publication. Without it, the moment of the call that publishes the event is
     * used.
     *
     * @param time kept to the microsecond
     * @return this builder
     */
    public Builder publishedAt(Instant time) {
      return publishedAtMicros(
          Math.addExact(
              Math.multiplyExact(time.getEpochSecond(), 1_000_000L), time.getNano() / 1_000));
    }

    /**
     * Sets the time of publication, without an object for it.
     *
     * @param micros microseconds since the epoch
     * @return this builder
     */
    public Builder publishedAtMicros(long micros) {
      if (micros == NOW) {
        throw new IllegalArgumentException(
            "publishedAtMicros: " + micros + " (expected: > Long.MIN_VALUE)");
      }
      this.publishedAt = micros;
      return this;
    }

    /**
     * Sets the fingerprint of the schema that the payload was written with.
     *
     * @param fingerprint CRC-64-AVRO, or 0 for none
     * @return this builder
     */
    public Builder schema(long fingerprint) {
      this.schema = fingerprint;
      return this;
    }

    /**
     * Creates the event.
     *
     * @return a new event
     */
    public Event build() {
      return new Event(this);
    }
  }
}
