package io.eventbus.server.call.dispatch;

import org.jspecify.annotations.Nullable;

/** Place of one call in a queue; empty while the call does not wait. Confined to the loop. */
public final class QueuePlace {
  final QueuedCall call;
  @Nullable ServiceQueue queue;
  @Nullable CallerQueue callerQueue;
  // Neighbours in the queue of the group.
  @Nullable QueuePlace before;
  @Nullable QueuePlace behind;

  /** Creates the empty place of a call. */
  public QueuePlace(QueuedCall call) {
    this.call = call;
  }
}
