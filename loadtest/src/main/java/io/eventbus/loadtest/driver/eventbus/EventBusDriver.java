package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.EventBusClient;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The event bus: a bus in a process of its own, or several that act as one, and the Java SDK. */
public final class EventBusDriver implements Driver {
  private final String name;
  private final @Nullable Path jar;
  private final List<String> jvmOptions;

  /** Creates the driver of the bus on the class path; starts nothing. */
  public EventBusDriver(List<String> jvmOptions) {
    this("eventbus", null, jvmOptions);
  }

  /**
   * Creates the driver of a bus in a jar; starts nothing. The clients are those on the class path.
   *
   * @param jar of the bus; null for the one on the class path
   */
  public EventBusDriver(String name, @Nullable Path jar, List<String> jvmOptions) {
    this.name = name;
    this.jar = jar;
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Availability availability() {
    if (jar != null) {
      return Availability.present(jar.toString());
    }
    if (!LoadTestBus.isThere()) {
      return Availability.absent("the bus is not on the class path: build eventbus-server");
    }
    String version = EventBusClient.class.getPackage().getImplementationVersion();
    return Availability.present(version == null ? "from classes" : version);
  }

  @Override
  public boolean hasLogins() {
    return true;
  }

  @Override
  public boolean hasClusters() {
    return true;
  }

  @Override
  public boolean hasCalls() {
    return true;
  }

  @Override
  public boolean hasDurableTopics() {
    return true;
  }

  @Override
  public Session start(Workload workload) {
    int servers = workload.cluster().servers();
    @Nullable DurableTopic durable = workload.durable();
    BusCluster cluster =
        BusCluster.start(
            servers,
            jar,
            jvmOptions,
            settings(workload),
            workload.login(),
            durable == null ? null : Path.of(durable.data()));
    if (durable == null) {
      return new EventBusSession(cluster, workload);
    }
    try {
      cluster.buses().get(0).admin().createJournal(BusJournal.NAME, "load.>");
      return new EventBusSession(cluster, workload);
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private static Map<String, String> settings(Workload workload) {
    return workload.cluster().servers() == 1
        ? Map.of()
        : Map.of(
            "federation.fanout",
            Integer.toString(workload.cluster().fanout()),
            // Clients that go where there is less to do would change what is measured.
            "balance.enabled",
            "false");
  }
}
