package io.eventbus.loadtest.faults.history;

import io.eventbus.loadtest.faults.history.WorkQueue.Loss;
import io.eventbus.loadtest.faults.history.WorkQueue.LossKind;
import io.eventbus.loadtest.faults.history.WorkQueue.Worker;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Losses of the workers of a queue, by time. */
final class WorkLosses {
  /**
   * Time after which a client is told of a loss at the latest, on a busy machine, unless its bus
   * stands still or is cut off: then others have its events long before, and the fault is known.
   */
  private static final long TOLD_LATE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Time for which other buses may still take a bus for lost that has come back. */
  private static final long BACK_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long[] NONE = {};

  private final Map<String, Map<LossKind, long[]>> byClient = new HashMap<>();
  private final Map<LossKind, long[]> all;
  private final List<BusFault> faults;

  /** Sorts the losses. */
  WorkLosses(List<Loss> losses, List<BusFault> faults) {
    this.faults = faults;
    all = times(losses);
    Map<String, List<Loss>> each = new HashMap<>();
    losses.forEach(loss -> each.computeIfAbsent(loss.client(), key -> new ArrayList<>()).add(loss));
    each.forEach((client, of) -> byClient.put(client, times(of)));
  }

  private static Map<LossKind, long[]> times(List<Loss> losses) {
    List<Loss> sorted = losses.stream().sorted(Comparator.comparingLong(Loss::at)).toList();
    Map<LossKind, long[]> times = new HashMap<>();
    for (LossKind kind : LossKind.values()) {
      times.put(
          kind, sorted.stream().filter(loss -> loss.kind() == kind).mapToLong(Loss::at).toArray());
    }
    return times;
  }

  /** Returns whether a worker may have lost what it had between two times. */
  boolean any(Worker worker, long from, long to) {
    return has(worker, LossKind.CUT, from, to) || anyInOrder(worker, from, to);
  }

  /** Returns whether that may have been a loss that counts as no attempt. */
  boolean anyInOrder(Worker worker, long from, long to) {
    return has(worker, LossKind.END, from, to)
        || has(worker, LossKind.TOLD, from, to)
        || faults.stream()
            .anyMatch(fault -> fault.bus().equals(worker.bus()) && overlaps(fault, from, to));
  }

  private boolean has(Worker worker, LossKind kind, long from, long to) {
    return count(byClient.getOrDefault(worker.client(), Map.of()), kind, from, to) > 0;
  }

  /** Returns how many consumers may have lost an event between two times, at most. */
  long most(long from, long to) {
    if (faults.stream().anyMatch(fault -> overlaps(fault, from, to))) {
      return Long.MAX_VALUE;
    }
    return count(all, LossKind.CUT, from, to) + count(all, LossKind.TOLD, from, to);
  }

  private static boolean overlaps(BusFault fault, long from, long to) {
    return fault.begin() <= to && from <= fault.end() + BACK_NANOS;
  }

  private static long count(Map<LossKind, long[]> times, LossKind kind, long from, long to) {
    long[] of = times.getOrDefault(kind, NONE);
    long end = kind == LossKind.TOLD ? to + TOLD_LATE_NANOS : to;
    return Math.max(0, before(of, end + 1) - before(of, from));
  }

  /** Returns the number of times before another. */
  private static int before(long[] times, long at) {
    int found = Arrays.binarySearch(times, at);
    while (found > 0 && times[found - 1] == at) {
      found--;
    }
    return found < 0 ? -found - 1 : found;
  }
}
