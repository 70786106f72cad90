package io.eventbus.conformance.run;

import io.eventbus.conformance.live.LiveCluster;
import java.util.HashMap;
import java.util.Map;

/** Live buses of a run, started for the first scenario that needs them; any thread. */
public final class LiveBuses implements AutoCloseable {
  private final Map<Integer, LiveCluster> clusters = new HashMap<>();

  /** Begins without buses. */
  public LiveBuses() {}

  synchronized LiveCluster of(int count) {
    return clusters.computeIfAbsent(count, LiveCluster::start);
  }

  @Override
  public synchronized void close() {
    clusters.values().forEach(LiveCluster::close);
    clusters.clear();
  }
}
