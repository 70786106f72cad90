package io.eventbus.client.internal.outbound;

import io.eventbus.client.PublishOptions;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Fields of a {@code Publish} that only durable topics have, as they are on the wire. */
record DurableWish(long expect, long delayMillis, long ttlMillis) {
  /** Maximum size of the fields, in bytes. */
  static final int MAX_BYTES =
      Frames.publishTailSize(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

  /** Returns the fields for options; null if these ask for nothing. */
  static @Nullable DurableWish of(PublishOptions options) {
    DurableWish wish =
        new DurableWish(
            options.expected().isPresent() ? options.expected().getAsLong() + 1 : 0,
            millis(options.delay()),
            millis(options.ttl()));
    return wish.expect == 0 && wish.delayMillis == 0 && wish.ttlMillis == 0 ? null : wish;
  }

  private static long millis(Duration time) {
    return time.plusNanos(999_999).toMillis();
  }

  /** Returns the fields of a frame; null if it has none. */
  static @Nullable DurableWish of(PublishView frame) {
    return frame.needsDurable()
        ? new DurableWish(frame.expect(), frame.delayMillis(), frame.ttlMillis())
        : null;
  }

  static int bytes(@Nullable DurableWish wish) {
    return wish == null ? 0 : Frames.publishTailSize(wish.expect, wish.delayMillis, wish.ttlMillis);
  }

  static void write(@Nullable DurableWish wish, ByteBuffer out) {
    if (wish != null) {
      Frames.writePublishTail(out, wish.expect, wish.delayMillis, wish.ttlMillis);
    }
  }
}
