package io.eventbus.client.internal.durable;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Credit;
import org.jspecify.annotations.Nullable;

/**
 * Credit of a consumer over one connection since its Consume there: the limit that the bus was
 * told, and the bytes that have come. Guarded by the lock of its {@link FeedProgress}.
 */
final class FeedCredit {
  private final FeedLine line;
  private final long consumer;
  private final long window;
  private long received;
  private long limit;
  private boolean begun;

  /**
   * Creates the credit of a connection.
   *
   * @param window bytes that the consumer has room for if nothing waits
   * @param limit that Consume has granted
   */
  FeedCredit(FeedLine line, long consumer, long window, long limit) {
    this.line = line;
    this.consumer = consumer;
    this.window = window;
    this.limit = limit;
  }

  /** Counts bytes of a frame; returns whether it is the first frame. */
  boolean received(int bytes) {
    received += bytes;
    boolean first = !begun;
    begun = true;
    return first;
  }

  /**
   * Returns the task that raises the limit; null while more than half of it is left, or there is no
   * room for as much.
   *
   * @param room bytes that may come now
   */
  @Nullable Runnable raise(long room) {
    long next = received + room;
    if (next - limit < window / 2) {
      return null;
    }
    limit = next;
    byte[] frame = ControlFrames.encode(TypeCode.CREDIT, new Credit(0L, next, received, consumer));
    return () -> line.send(frame);
  }
}
