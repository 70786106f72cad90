package io.eventbus.server.measure;

import io.eventbus.server.balance.LoadSource;
import io.eventbus.server.balance.decision.LoadFigures;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.view.BusStats;

/** Load of a running bus, from its counters. For one thread. */
public final class MeasuredLoad implements LoadSource {
  private final BusContext bus;
  private final LoopLoad loops;
  private final BalanceConfig config;
  private final int maxConnections;
  private long events;
  private long bytes;
  private long readAt = System.nanoTime();

  public MeasuredLoad(BusContext bus, LoopLoad loops, ServerConfig config, int maxConnections) {
    this.bus = bus;
    this.loops = loops;
    this.config = config.balance();
    this.maxConnections = maxConnections;
  }

  @Override
  public LoadFigures read() {
    BusCounters counters = bus.stats();
    long now = System.nanoTime();
    long eventsNow = counters.sum(l -> l.eventsIn.get()) + counters.sum(l -> l.eventsOut.get());
    long bytesNow = counters.sum(l -> l.bytesIn.get()) + counters.sum(l -> l.bytesOut.get());
    double seconds = Math.max(1e-3, (now - readAt) / 1e9);
    LoadFigures figures =
        new LoadFigures(
            loops.read().stream().mapToDouble(BusStats.Loop::busyShare).max().orElse(0),
            share((eventsNow - events) / seconds, config.capacityEvents()),
            share((bytesNow - bytes) / seconds, config.capacityBytes()),
            share(counters.connections.get(), maxConnections),
            share((double) bus.memory().used(), bus.memory().limit()));
    events = eventsNow;
    bytes = bytesNow;
    readAt = now;
    return figures;
  }

  /** Returns the share of a capacity; 0 for no capacity. */
  private static double share(double value, long capacity) {
    return capacity > 0 ? Math.max(0, value) / (double) capacity : 0;
  }
}
