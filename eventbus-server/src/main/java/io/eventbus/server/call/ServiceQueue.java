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
  private static final CallPriority[] ORDER = {
    CallPriority.HIGH, CallPriority.NORMAL, CallPriority.LOW
  };

  private static final int ALL_WEIGHTS = 13;

  private final CallTurns[] classes = {new CallTurns(), new CallTurns(), new CallTurns()};
  private final WaitingLoops waiting;
  private final int loop;
  // Of this round: 0 <= each <= its weight.
  private final int[] left = new int[ORDER.length];
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

  private static int weight(CallPriority priority) {
    return switch (priority) {
      case HIGH -> 8;
      case NORMAL -> 4;
      case LOW -> 1;
    };
  }

  private CallTurns turns(CallPriority priority) {
    return classes[priority.ordinal()];
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** How many calls of a share and priority wait. */
  int size(Share share, CallPriority priority) {
    return turns(priority).size(share);
  }

  /**
   * How many calls will have been served when the next one of a share and priority has been, if no
   * others come.
   */
  long ahead(Share share, CallPriority priority) {
    long inClass = turns(priority).ahead(share);
    int weight = weight(priority);
    return Math.min(size + 1L, (inClass * ALL_WEIGHTS + weight - 1) / weight);
  }

  /**
   * Adds a call.
   *
   * @param first whether it goes before those of its share, because it has waited already
   */
  void add(Call call, boolean first) {
    turns(call.priority()).add(call, first);
    call.queue = this;
    if (size++ == 0) {
      waiting.set(loop, true);
    }
  }

  void remove(Call call) {
    turns(call.priority()).remove(call);
    removed(call);
  }

  /** Takes the next call out; null if there is none. */
  @Nullable Call poll() {
    if (size == 0) {
      return null;
    }
    CallTurns next = withCredit();
    if (next == null) {
      for (CallPriority priority : ORDER) {
        left[priority.ordinal()] = weight(priority);
      }
      next = withCredit();
    }
    Call call = next == null ? null : next.poll();
    if (call != null) {
      left[call.priority().ordinal()]--;
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

  private @Nullable CallTurns withCredit() {
    for (CallPriority priority : ORDER) {
      if (left[priority.ordinal()] > 0 && !turns(priority).isEmpty()) {
        return turns(priority);
      }
    }
    return null;
  }

  /** Returns all calls as they are now; for what happens rarely. */
  List<Call> calls() {
    List<Call> all = new ArrayList<>(size);
    for (CallTurns turns : classes) {
      turns.forEach(all::add);
    }
    return all;
  }
}
