package io.eventbus.raft.repair;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.metrics.LongCounter;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.MetricRegistryInfo;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.Timekeeper;
import org.apache.ratis.util.TimeDuration;

/**
 * Metrics that count nothing.
 *
 * <p>The gap: Ratis updates dozens of timers for every command, cannot be told not to, and does not
 * start without an implementation of them; it brings one that counts, and none that does not. It
 * finds this class by its name in {@code META-INF/services}. No upstream ticket is known; the
 * loader was changed in RATIS-2561.
 *
 * <p>Remove when Ratis can do without metrics: {@code
 * RatisFaultsTest.ratisDoesNotStartWithoutMetrics} fails then.
 */
public final class NoOpMetrics extends MetricRegistries {
  private static final Timekeeper.Context STOPPED = () -> 0;
  private static final Timekeeper TIMER = () -> STOPPED;
  private static final LongCounter COUNTER = new Nothing();

  /** Creates the metrics; called by Ratis. */
  public NoOpMetrics() {}

  private static final class Nothing implements LongCounter {
    @Override
    public void inc(long n) {}

    @Override
    public void dec(long n) {}

    @Override
    public long getCount() {
      return 0;
    }
  }

  private record Quiet(MetricRegistryInfo info) implements RatisMetricRegistry {
    @Override
    public Timekeeper timer(String name) {
      return TIMER;
    }

    @Override
    public LongCounter counter(String name) {
      return COUNTER;
    }

    @Override
    public boolean remove(String name) {
      return false;
    }

    @Override
    public <T> void gauge(String name, Supplier<Supplier<T>> gaugeSupplier) {}

    @Override
    public MetricRegistryInfo getMetricRegistryInfo() {
      return info;
    }
  }

  /** Does nothing. */
  @Override
  public void clear() {}

  /** Creates a registry that counts nothing. */
  @Override
  public RatisMetricRegistry create(MetricRegistryInfo info) {
    return new Quiet(info);
  }

  /** Does nothing. */
  @Override
  public boolean remove(MetricRegistryInfo key) {
    return false;
  }

  /** Finds nothing. */
  @Override
  public Optional<RatisMetricRegistry> get(MetricRegistryInfo info) {
    return Optional.empty();
  }

  /** Returns nothing. */
  @Override
  public Set<MetricRegistryInfo> getMetricRegistryInfos() {
    return Set.of();
  }

  /** Returns nothing. */
  @Override
  public Collection<RatisMetricRegistry> getMetricRegistries() {
    return List.of();
  }

  /** Does nothing. */
  @Override
  public void addReporterRegistration(
      Consumer<RatisMetricRegistry> reporterRegistration,
      Consumer<RatisMetricRegistry> stopReporter) {}

  /** Does nothing. */
  @Override
  public void enableJmxReporter() {}

  /** Does nothing. */
  @Override
  public void enableConsoleReporter(TimeDuration consoleReportRate) {}
}
