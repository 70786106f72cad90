package io.eventbus.client.internal.durable;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Credit;
import org.jspecify.annotations.Nullable;

/**
 * Credit of a consumer over one connection since its Consume there: the limit that the bus was
 * told, and the bytes that have come. Guarded by the lock of its owner.
 */
final class FeedCredit {
  private final FeedLine line;
  private final long consumer;
  private final long step;
  private long received;
  private long limit;
  private boolean begun;

  /**
   * Creates the credit of a connection.
   *
   * @param step bytes by which the limit is raised at least
   * @param limit that Consume has granted
   */
  FeedCredit(FeedLine line, long consumer, long step, long limit) {
    this.line = line;
    this.consumer = consumer;
    this.step = step;
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
   * Returns the task that raises the limit; null while there is no room for a step more.
   *
   * @param room bytes that may come now
   */
  @Nullable Runnable raise(long room) {
    long next = received + room;
    if (next - limit < step) {
      return null;
    }
    limit = next;
    byte[] frame = ControlFrames.encode(TypeCode.CREDIT, new Credit(0L, next, received, consumer));
    return () -> line.send(frame);
  }
}
