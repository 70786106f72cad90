package io.eventbus.server.call.dispatch;

import java.util.IdentityHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one priority that wait for the same places: fairness groups take turns, the calls of
 * each are served in order. Queues are recycled, so that the steady state allocates nothing; the
 * memory of a crowd is released when no call waits. Confined to the loop.
 */
final class FairCallQueue {
  /** Queues that are kept for reuse while no call waits. */
  private static final int MAX_SPARE = 4;

  private IdentityHashMap<FairnessGroup, CallerQueue> queues = new IdentityHashMap<>(1);
  // Maximum of groups with calls since the map was created.
  private int crowd;
  // Group whose turn it is.
  private @Nullable CallerQueue current;
  private @Nullable CallerQueue spare;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the number of waiting calls of a group. */
  int size(FairnessGroup group) {
    CallerQueue queue = queues.get(group);
    return queue == null ? 0 : queue.size;
  }

  /**
   * Returns the waiting time ahead of the next call of a group: that of the first call of the
   * group, or of the group whose turn it is.
   */
  long waited(FairnessGroup group, long nowNanos) {
    CallerQueue queue = current;
    if (queue == null) {
      return 0;
    }
    CallerQueue own = queues.get(group);
    QueuedCall first = own == null ? null : own.first();
    long turn = nowNanos - queue.turnNanos;
    return first == null ? turn : Math.max(turn, nowNanos - first.queuedNanos());
  }

  /**
   * Returns the call to shed when a call of a group is refused: the first of that group or, if it
   * has none, the first of the group whose turn it is, if that turn has not come for too long.
   */
  @Nullable QueuedCall nextToShed(FairnessGroup group, long maxNanos, long nowNanos) {
    CallerQueue queue = queues.get(group);
    if (queue != null) {
      return queue.first();
    }
    queue = current;
    return queue == null || nowNanos - queue.turnNanos <= maxNanos ? null : queue.first();
  }

  /** Passes the turn of a call's group to the next one: the call makes way for another group. */
  void pass(QueuedCall call, long nowNanos) {
    CallerQueue queue = call.queuePlace().callerQueue;
    if (queue != null) {
      queue.turnNanos = nowNanos;
      current = queue.next;
    }
  }

  void add(QueuedCall call, boolean first) {
    CallerQueue queue = queue(call.group(), call.queuedNanos());
    QueuePlace place = call.queuePlace();
    place.callerQueue = queue;
    if (first) {
      queue.addFirst(place);
    } else {
      queue.add(place);
    }
    size++;
  }

  private CallerQueue queue(FairnessGroup group, long nowNanos) {
    CallerQueue queue = queues.get(group);
    if (queue != null) {
      return queue;
    }
    queue = spare;
    if (queue == null) {
      queue = new CallerQueue();
    } else {
      spare = queue.next == queue ? null : queue.next;
      unlink(queue);
    }
    queue.group = group;
    queue.turnNanos = nowNanos;
    queues.put(group, queue);
    crowd = Math.max(crowd, queues.size());
    CallerQueue now = current;
    if (now == null) {
      current = queue;
    } else {
      // The last one before the turn comes round.
      link(queue, now);
    }
    return queue;
  }

  /** Removes the next call, and passes the turn to the next group; null if there is none. */
  @Nullable QueuedCall poll(long nowNanos) {
    CallerQueue queue = current;
    if (queue == null) {
      return null;
    }
    QueuedCall call = queue.first();
    if (call != null) {
      current = queue.next;
      queue.turnNanos = nowNanos;
      remove(call);
    }
    return call;
  }

  /** Visits all calls; the visitor must not remove any. */
  void forEach(Consumer<QueuedCall> action) {
    for (CallerQueue queue : queues.values()) {
      queue.forEach(action);
    }
  }

  /** Removes a call that is in this queue. */
  void remove(QueuedCall call) {
    QueuePlace place = call.queuePlace();
    CallerQueue queue = place.callerQueue;
    if (queue == null) {
      throw new IllegalStateException("the call does not wait");
    }
    queue.remove(place);
    place.callerQueue = null;
    size--;
    if (queue.size == 0) {
      queues.remove(queue.group);
      queue.group = null;
      if (current == queue) {
        current = queue.next == queue ? null : queue.next;
      }
      unlink(queue);
      keep(queue);
      forgetCrowd();
    }
  }

  private void forgetCrowd() {
    if (size == 0 && crowd > MAX_SPARE) {
      queues = new IdentityHashMap<>(1);
      spare = null;
      crowd = 0;
    }
  }

  private void keep(CallerQueue queue) {
    CallerQueue kept = spare;
    if (kept == null) {
      spare = queue;
    } else {
      link(queue, kept);
    }
  }

  private static void link(CallerQueue queue, CallerQueue before) {
    queue.previous = before.previous;
    queue.next = before;
    before.previous.next = queue;
    before.previous = queue;
  }

  private static void unlink(CallerQueue queue) {
    queue.previous.next = queue.next;
    queue.next.previous = queue.previous;
    queue.next = queue;
    queue.previous = queue;
  }
}
