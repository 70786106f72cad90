package io.eventbus.server.durable;

import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.delivery.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * Range of a journal as the consumers of one filter get it.
 *
 * @param from the first position
 * @param to the last position
 * @param hole why its events do not come; null if they do
 * @param frames the {@code Deliver} frames, of which the owner of this has a reference; null for
 *     none
 * @param events how many events are in them
 */
record FeedPiece(
    long from, long to, @Nullable TruncatedReason hole, @Nullable Delivery frames, int events) {
  /** Adds a reference for another owner. */
  FeedPiece retained() {
    if (frames != null) {
      frames.retain();
    }
    return this;
  }

  void release() {
    if (frames != null) {
      frames.release();
    }
  }

  int bytes() {
    return frames == null ? 0 : frames.size();
  }
}
