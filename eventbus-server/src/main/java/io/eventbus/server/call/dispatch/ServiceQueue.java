package io.eventbus.server.call.dispatch;

import io.eventbus.schema.CallPriority;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one loop that wait for the same places: three priorities that are served 8 : 4 : 1 while
 * all of them have calls. Confined to the loop.
 */
public final class ServiceQueue {
  private static final int[] WEIGHTS = {8, 4, 1};

  private static final class Band {
    final FairCallQueue turns = new FairCallQueue();
    final int weight;
    // Rest of this round: 0 <= left <= weight.
    int left;

    Band(int weight) {
      this.weight = weight;
    }
  }

  // By priority; each allocated with its first call: most services have calls of one priority
  // only.
  private final @Nullable Band[] bands = new Band[WEIGHTS.length];
  private final WaitingLoops waiting;
  private final int loop;
  private int size;

  /** Creates the empty queue of a loop. */
  public ServiceQueue(WaitingLoops waiting, int loop) {
    this.waiting = waiting;
    this.loop = loop;
  }

  private static int index(CallPriority priority) {
    return switch (priority) {
      case HIGH -> 0;
      case NORMAL -> 1;
      case LOW -> 2;
    };
  }

  private Band band(CallPriority priority) {
    int index = index(priority);
    Band band = bands[index];
    if (band == null) {
      band = new Band(WEIGHTS[index]);
      bands[index] = band;
    }
    return band;
  }

  /** Returns the number of calls. */
  public int size() {
    return size;
  }

  /** Returns whether no call waits. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** Returns the number of waiting calls of a group and priority. */
  int size(FairnessGroup group, CallPriority priority) {
    Band band = bands[index(priority)];
    return band == null ? 0 : band.turns.size(group);
  }

  /** Returns the waiting time ahead of the next call of a group and priority. */
  long waited(FairnessGroup group, CallPriority priority, long nowNanos) {
    Band band = bands[index(priority)];
    return band == null ? 0 : band.turns.waited(group, nowNanos);
  }

  /**
   * Returns the call to shed when a call of a group and priority is refused; null for none.
   *
   * @param maxNanos maximum time until the turn of another group should come
   */
  @Nullable QueuedCall nextToShed(
      FairnessGroup group, CallPriority priority, long maxNanos, long nowNanos) {
    Band band = bands[index(priority)];
    return band == null ? null : band.turns.nextToShed(group, maxNanos, nowNanos);
  }

  /** Passes the turn of a queued call's group to the next group. */
  void pass(QueuedCall call, long nowNanos) {
    band(call.priority()).turns.pass(call, nowNanos);
  }

  /**
   * Adds a call, which has its start of the wait.
   *
   * @param first whether it goes before those of its group, because it has waited already
   */
  void add(QueuedCall call, boolean first) {
    band(call.priority()).turns.add(call, first);
    call.queuePlace().queue = this;
    if (size++ == 0) {
      waiting.set(loop, true);
    }
  }

  void remove(QueuedCall call) {
    band(call.priority()).turns.remove(call);
    removed(call);
  }

  /** Removes the next call; null if there is none. */
  @Nullable QueuedCall poll(long nowNanos) {
    if (size == 0) {
      return null;
    }
    Band next = withCredit();
    if (next == null) {
      for (Band band : bands) {
        if (band != null) {
          band.left = band.weight;
        }
      }
      next = withCredit();
    }
    QueuedCall call = next == null ? null : next.turns.poll(nowNanos);
    if (next != null && call != null) {
      next.left--;
      removed(call);
    }
    return call;
  }

  private void removed(QueuedCall call) {
    call.queuePlace().queue = null;
    if (--size == 0) {
      waiting.set(loop, false);
    }
  }

  private @Nullable Band withCredit() {
    for (Band band : bands) {
      if (band != null && band.left > 0 && !band.turns.isEmpty()) {
        return band;
      }
    }
    return null;
  }

  /** Returns all calls; for rare use. */
  List<QueuedCall> calls() {
    List<QueuedCall> all = new ArrayList<>(size);
    for (Band band : bands) {
      if (band != null) {
        band.turns.forEach(all::add);
      }
    }
    return all;
  }
}
