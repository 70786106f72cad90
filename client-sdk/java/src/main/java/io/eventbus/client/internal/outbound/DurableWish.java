package io.eventbus.client.internal.outbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.ProducerName;
import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Fields of a {@code Publish} that only durable topics have, as they are on the wire. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record DurableWish(
    long expect, long delayMillis, long ttlMillis, byte @Nullable [] producerName, long number) {
  /** Maximum size of the fields, in bytes. */
  static final int MAX_BYTES =
      Frames.publishTailSize(
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          new byte[ProducerName.MAX_BYTES],
          Long.MAX_VALUE);

  /**
   * Returns the fields for options; null if these ask for nothing.
   *
   * @throws EventBusException.IllegalTopic if the name of the producer is illegal
   */
  static @Nullable DurableWish of(PublishOptions options) {
    String problem = options.producer().map(ProducerName::problem).orElse(null);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
    DurableWish wish =
        new DurableWish(
            options.expected().isPresent() ? options.expected().getAsLong() + 1 : 0,
            millis(options.delay()),
            millis(options.ttl()),
            options.producer().map(name -> name.getBytes(StandardCharsets.UTF_8)).orElse(null),
            options.number());
    boolean empty =
        wish.expect == 0
            && wish.delayMillis == 0
            && wish.ttlMillis == 0
            && wish.producerName == null;
    return empty ? null : wish;
  }

  private static long millis(Duration time) {
    return time.plusNanos(999_999).toMillis();
  }

  /** Returns the fields of a frame; null if it has none. */
  static @Nullable DurableWish of(PublishView frame) {
    if (!frame.needsDurable()) {
      return null;
    }
    String name = frame.producerName();
    return new DurableWish(
        frame.expect(),
        frame.delayMillis(),
        frame.ttlMillis(),
        name == null ? null : name.getBytes(StandardCharsets.UTF_8),
        frame.number());
  }

  static int bytes(@Nullable DurableWish wish) {
    return wish == null
        ? 0
        : Frames.publishTailSize(
            wish.expect, wish.delayMillis, wish.ttlMillis, wish.producerName, wish.number);
  }

  static void write(@Nullable DurableWish wish, ByteBuffer out) {
    if (wish != null) {
      Frames.writePublishTail(
          out, wish.expect, wish.delayMillis, wish.ttlMillis, wish.producerName, wish.number);
    }
  }
}
