package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.EventBusClient;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.workload.Workload;
import java.util.List;
import java.util.Map;

/** The event bus: a bus in a process of its own, or several that act as one, and the Java SDK. */
public final class EventBusDriver implements Driver {
  private final List<String> jvmOptions;

  /**
   * Makes the driver; starts nothing.
   *
   * @param jvmOptions of the JVM of each bus
   */
  public EventBusDriver(List<String> jvmOptions) {
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "eventbus";
  }

  @Override
  public Availability availability() {
    if (!BusProcess.isThere()) {
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
  public Session start(Workload workload) {
    int servers = workload.cluster().servers();
    return new EventBusSession(
        BusCluster.start(servers, jvmOptions, settings(workload), workload.login()), workload);
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
