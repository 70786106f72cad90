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
  private static final int ALL_WEIGHTS = 13;

  private static final class Band {
    final CallTurns turns = new CallTurns();
    final int weight;
    // Of this round: 0 <= left <= weight.
    int left;

    Band(int weight) {
      this.weight = weight;
    }
  }

  private final Band high = new Band(8);
  private final Band normal = new Band(4);
  private final Band low = new Band(1);
  private final Band[] bands = {high, normal, low};
  private final WaitingLoops waiting;
  private final int loop;
  private int size;

  /**
   * Makes an empty queue.
   *
   * @param waiting told whether there are calls in it
   * @param loop whose queue it is
   */
  ServiceQueue(WaitingLoops waiting, int loop) {
    this.waiting = waiting;
    this.loop = loop;
  }

  private Band band(CallPriority priority) {
    return switch (priority) {
      case HIGH -> high;
      case NORMAL -> normal;
      case LOW -> low;
    };
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** How many calls of a share and priority wait. */
  int size(Share share, CallPriority priority) {
    return band(priority).turns.size(share);
  }

  /**
   * How many calls will have been served when the next one of a share and priority has been, if no
   * others come.
   */
  long ahead(Share share, CallPriority priority) {
    Band band = band(priority);
    long inBand = band.turns.ahead(share);
    return Math.min(size + 1L, (inBand * ALL_WEIGHTS + band.weight - 1) / band.weight);
  }

  /**
   * Adds a call.
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
  @Nullable Call poll() {
    if (size == 0) {
      return null;
    }
    Band next = withCredit();
    if (next == null) {
      for (Band band : bands) {
        band.left = band.weight;
      }
      next = withCredit();
    }
    Call call = next == null ? null : next.turns.poll();
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
      if (band.left > 0 && !band.turns.isEmpty()) {
        return band;
      }
    }
    return null;
  }

  /** Returns all calls as they are now; for what happens rarely. */
  List<Call> calls() {
    List<Call> all = new ArrayList<>(size);
    for (Band band : bands) {
      band.turns.forEach(all::add);
    }
    return all;
  }
}
