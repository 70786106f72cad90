package io.eventbus.loadtest.faults.history;

import io.eventbus.loadtest.faults.history.ConsumerLoss.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Losses of the consumers of a durable subscription, by time. */
final class ConsumerLosses {
  /** Time after which a client is told of the end of its connection, on a busy machine. */
  private static final long DISCONNECTED_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * Time after which a client is told that others have what it had. Its bus has to hear of that
   * first; one that stands still or is cut off has a fault that is known.
   */
  private static final long REPLACED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long[] NONE = {};

  private final Map<String, Map<Kind, long[]>> byClient = new HashMap<>();
  private final Map<Kind, long[]> all;
  private final List<BusFault> faults;

  /** Sorts the losses. */
  ConsumerLosses(List<ConsumerLoss> losses, List<BusFault> faults) {
    this.faults = faults;
    all = times(losses);
    Map<String, List<ConsumerLoss>> each = new HashMap<>();
    losses.forEach(loss -> each.computeIfAbsent(loss.client(), key -> new ArrayList<>()).add(loss));
    each.forEach((client, of) -> byClient.put(client, times(of)));
  }

  private static Map<Kind, long[]> times(List<ConsumerLoss> losses) {
    List<ConsumerLoss> sorted =
        losses.stream().sorted(Comparator.comparingLong(ConsumerLoss::at)).toList();
    Map<Kind, long[]> times = new HashMap<>();
    for (Kind kind : Kind.values()) {
      times.put(
          kind,
          sorted.stream()
              .filter(loss -> loss.kind() == kind)
              .mapToLong(ConsumerLoss::at)
              .toArray());
    }
    return times;
  }

  /** Returns whether a consumer may have lost what it had between two times. */
  boolean any(String client, String bus, long from, long to) {
    return has(client, Kind.CUT, from, to)
        || has(client, Kind.DISCONNECTED, from, to)
        || anyInOrder(client, bus, from, to)
        || faults.stream().anyMatch(fault -> isOf(fault, bus, from, to));
  }

  /** Returns whether that may have been a loss that counts as no attempt. */
  boolean anyInOrder(String client, String bus, long from, long to) {
    return has(client, Kind.END, from, to)
        || has(client, Kind.REPLACED, from, to)
        || faults.stream().anyMatch(fault -> !fault.counts() && isOf(fault, bus, from, to));
  }

  private static boolean isOf(BusFault fault, String bus, long from, long to) {
    return fault.bus().equals(bus) && overlaps(fault, from, to);
  }

  private boolean has(String client, Kind kind, long from, long to) {
    return count(byClient.getOrDefault(client, Map.of()), kind, from, to) > 0;
  }

  /** Returns how many consumers may have lost an event between two times, at most. */
  long most(long from, long to) {
    if (faults.stream().anyMatch(fault -> overlaps(fault, from, to))) {
      return Long.MAX_VALUE;
    }
    return count(all, Kind.CUT, from, to)
        + count(all, Kind.DISCONNECTED, from, to)
        + count(all, Kind.REPLACED, from, to);
  }

  private static boolean overlaps(BusFault fault, long from, long to) {
    return fault.begin() <= to && from <= fault.end();
  }

  private static long count(Map<Kind, long[]> times, Kind kind, long from, long to) {
    long[] of = times.getOrDefault(kind, NONE);
    long late =
        switch (kind) {
          case CUT, END -> 0;
          case DISCONNECTED -> DISCONNECTED_NANOS;
          case REPLACED -> REPLACED_NANOS;
        };
    return Math.max(0, before(of, to + late + 1) - before(of, from));
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
