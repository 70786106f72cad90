package io.eventbus.conformance.run;

import io.eventbus.conformance.live.LiveCluster;
import java.util.HashMap;
import java.util.Map;

/** The live buses of a run, started when the first scenario wants them; any thread. */
public final class LiveBuses implements AutoCloseable {
  private final Map<Integer, LiveCluster> clusters = new HashMap<>();

  /** Begins without any. */
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
