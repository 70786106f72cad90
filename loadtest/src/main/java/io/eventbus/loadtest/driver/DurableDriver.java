package io.eventbus.loadtest.driver;

import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** System that is measured with durable topics only. */
public abstract class DurableDriver implements Driver {
  private final Set<DurableTopic.Operation> operations;

  /**
   * Creates the driver; starts nothing.
   *
   * @param operations the ones that are measured
   */
  protected DurableDriver(Set<DurableTopic.Operation> operations) {
    this.operations = Set.copyOf(operations);
  }

  @Override
  public final boolean hasEvents() {
    return false;
  }

  @Override
  public final boolean hasDurableTopics() {
    return true;
  }

  @Override
  public final boolean hasClusters() {
    return true;
  }

  @Override
  public final String lacks(Workload workload) {
    @Nullable DurableTopic durable = workload.durable();
    return durable == null || operations.contains(durable.operation())
        ? Driver.super.lacks(workload)
        : "measurement of " + durable.operation().name().toLowerCase(Locale.ROOT);
  }

  @Override
  public final Session start(Workload workload) {
    @Nullable DurableTopic durable = workload.durable();
    if (durable == null) {
      throw new DriverException("durable: none (expected: a workload with a durable topic)");
    }
    DriverData data = DriverData.in(Path.of(durable.data()), "loadtest-" + name() + "-");
    try {
      return start(workload, durable, data);
    } catch (RuntimeException e) {
      data.close();
      throw e;
    }
  }

  /**
   * Starts the servers as {@link #start(Workload)} does.
   *
   * @param data the session's own, unless this throws
   */
  protected abstract Session start(Workload workload, DurableTopic durable, DriverData data);
}
