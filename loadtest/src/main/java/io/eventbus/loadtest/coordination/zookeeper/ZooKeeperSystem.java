package io.eventbus.loadtest.coordination.zookeeper;

import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.LibraryVersions;
import java.nio.file.Path;
import java.util.List;

/** ZooKeeper with the settings of its sample configuration. */
public final class ZooKeeperSystem implements CoordinationSystem {
  private final List<String> jvmOptions;

  /** Creates the system; starts nothing. */
  public ZooKeeperSystem(List<String> jvmOptions) {
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "zookeeper";
  }

  @Override
  public Availability availability() {
    return Availability.present(LibraryVersions.of("zookeeper"));
  }

  @Override
  public CoordinationCluster start(int servers, Path directory) throws InterruptedException {
    ZooKeeperCluster cluster = new ZooKeeperCluster(servers, directory, jvmOptions);
    try {
      cluster.start();
      cluster.awaitWhole();
      return cluster;
    } catch (RuntimeException | InterruptedException e) {
      cluster.close();
      throw e;
    }
  }
}
