package io.eventbus.server.call.dispatch;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one fairness group that wait in one {@link FairCallQueue}, in order. Confined to the
 * loop.
 */
final class CallerQueue {
  @Nullable FairnessGroup group;
  // Neighbours in a ring of queues.
  CallerQueue next = this;
  CallerQueue previous = this;
  int size;
  // Start of the wait for its turn.
  long turnNanos;
  private @Nullable QueuePlace first;
  private @Nullable QueuePlace last;

  void add(QueuePlace place) {
    QueuePlace before = last;
    place.before = before;
    if (before == null) {
      first = place;
    } else {
      before.behind = place;
    }
    last = place;
    size++;
  }

  void addFirst(QueuePlace place) {
    QueuePlace after = first;
    place.behind = after;
    if (after == null) {
      last = place;
    } else {
      after.before = place;
    }
    first = place;
    size++;
  }

  void remove(QueuePlace place) {
    QueuePlace before = place.before;
    QueuePlace behind = place.behind;
    if (before == null) {
      first = behind;
    } else {
      before.behind = behind;
    }
    if (behind == null) {
      last = before;
    } else {
      behind.before = before;
    }
    place.before = null;
    place.behind = null;
    size--;
  }

  /** Returns the first call; null if there is none. */
  @Nullable QueuedCall first() {
    QueuePlace place = first;
    return place == null ? null : place.call;
  }

  /** Visits all calls in order; the visitor must not remove any. */
  void forEach(Consumer<QueuedCall> action) {
    for (QueuePlace place = first; place != null; place = place.behind) {
      action.accept(place.call);
    }
  }
}
