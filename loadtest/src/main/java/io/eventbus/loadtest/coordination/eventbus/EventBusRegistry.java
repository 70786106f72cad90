package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.coordination.VisibleSystem;
import io.eventbus.loadtest.driver.Availability;
import java.nio.file.Path;
import java.util.List;

/** This product's registry. */
public final class EventBusRegistry implements VisibleSystem {
  private final List<String> jvmOptions;

  /** Creates the system; starts nothing. */
  public EventBusRegistry(List<String> jvmOptions) {
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "eventbus";
  }

  @Override
  public Availability availability() {
    String version = EventBusRegistry.class.getPackage().getImplementationVersion();
    return Availability.present(version == null ? "(not from a jar)" : version);
  }

  @Override
  public VisibleCluster start(int servers, Path directory) throws InterruptedException {
    RegistryCluster cluster = new RegistryCluster(servers, directory, jvmOptions);
    try {
      for (int i = 0; i < servers; i++) {
        cluster.join();
      }
      cluster.awaitWhole();
      return cluster;
    } catch (RuntimeException | InterruptedException e) {
      cluster.close();
      throw e;
    }
  }
}
