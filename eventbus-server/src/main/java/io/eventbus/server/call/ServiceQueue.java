package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one loop that wait for the same places: three classes that are served 8 : 4 : 1
 * while all of them have calls. Confined to the loop.
 */
final class ServiceQueue {
  private static final int[] WEIGHTS = {8, 4, 1};

  private static final class Band {
    final FairCallQueue turns = new FairCallQueue();
    final int weight;
    // Of this round: 0 <= left <= weight.
    int left;

    Band(int weight) {
      this.weight = weight;
    }
  }

  // By urgency; each made with its first call: most services have calls of one priority only.
  private final @Nullable Band[] bands = new Band[WEIGHTS.length];
  private final WaitingLoops waiting;
  private final int loop;
  private int size;

  /** Makes an empty queue. */
  ServiceQueue(WaitingLoops waiting, int loop) {
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

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** How many calls of a share and priority wait. */
  int size(FairnessGroup share, CallPriority priority) {
    Band band = bands[index(priority)];
    return band == null ? 0 : band.turns.size(share);
  }

  /** How long the next call of a share and priority would see others wait that come before it. */
  long waited(FairnessGroup share, CallPriority priority, long nowNanos) {
    Band band = bands[index(priority)];
    return band == null ? 0 : band.turns.waited(share, nowNanos);
  }

  /**
   * Returns the call that makes way when one of a share and priority is refused; null if none does.
   *
   * @param mostNanos the longest time in which the turn of another share should come
   */
  @Nullable Call makesWay(
      FairnessGroup share, CallPriority priority, long mostNanos, long nowNanos) {
    Band band = bands[index(priority)];
    return band == null ? null : band.turns.makesWay(share, mostNanos, nowNanos);
  }

  /** Gives the turn of the share of a call, which is in here, to the next share. */
  void pass(Call call, long nowNanos) {
    band(call.priority()).turns.pass(call, nowNanos);
  }

  /**
   * Adds a call, which knows since when it waits.
   *
   * @param first whether it goes before those of its share, because it has waited already
   */
  void add(Call call, boolean first) {
    band(call.priority()).turns.add(call, first);
    call.queue = this;
    if (size++ == 0) {
      waiting.set(loop, true);
    }
  }

  void remove(Call call) {
    band(call.priority()).turns.remove(call);
    removed(call);
  }

  /** Takes the next call out; null if there is none. */
  @Nullable Call poll(long nowNanos) {
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
    Call call = next == null ? null : next.turns.poll(nowNanos);
    if (next != null && call != null) {
      next.left--;
      removed(call);
    }
    return call;
  }

  private void removed(Call call) {
    call.queue = null;
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

  /** Returns all calls as they are now; for what happens rarely. */
  List<Call> calls() {
    List<Call> all = new ArrayList<>(size);
    for (Band band : bands) {
      if (band != null) {
        band.turns.forEach(all::add);
      }
    }
    return all;
  }
}
