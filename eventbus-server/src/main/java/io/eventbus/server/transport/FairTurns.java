package io.eventbus.server.transport;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Order in which a loop gives turns to waiting tasks: one task of each client address in turn,
 * those of one address in order. Hundreds of connections of one address delay those of another
 * address by one turn each. Confined to the loop.
 */
final class FairTurns {
  /** Waiting tasks of one address. */
  private record Lane(Object address, ArrayDeque<Runnable> tasks) {
    Lane(Object address) {
      this(address, new ArrayDeque<>());
    }
  }

  // Those with tasks.
  private final Map<Object, Lane> lanes = new HashMap<>();
  private final ArrayDeque<Lane> order = new ArrayDeque<>();
  private int size;

  /** Appends a task to those of its address. */
  void add(Object address, Runnable task) {
    Lane lane = lanes.computeIfAbsent(address, Lane::new);
    if (lane.tasks.isEmpty()) {
      order.add(lane);
    }
    lane.tasks.add(task);
    size++;
  }

  /** Removes and returns the task whose turn it is; null for none. */
  @Nullable Runnable poll() {
    Lane lane = order.poll();
    if (lane == null) {
      return null;
    }
    Runnable task = lane.tasks.remove();
    size--;
    if (lane.tasks.isEmpty()) {
      lanes.remove(lane.address);
    } else {
      order.add(lane);
    }
    return task;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the number of waiting tasks. */
  int size() {
    return size;
  }

  /** Discards all tasks. */
  void clear() {
    lanes.clear();
    order.clear();
    size = 0;
  }
}
