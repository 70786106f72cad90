package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.etcd.EtcdSystem;
import io.eventbus.loadtest.coordination.eventbus.EventBusRegistry;
import io.eventbus.loadtest.coordination.zookeeper.ZooKeeperSystem;
import java.util.List;
import java.util.stream.Stream;

/** The systems that can be compared with the registry, by name. */
class CoordinationSystems {
  CoordinationSystem create(String name, List<String> serverJvm) {
    return switch (name) {
      case "eventbus" -> new EventBusRegistry(options(serverJvm));
      case "zookeeper" -> new ZooKeeperSystem(options(serverJvm));
      case "etcd" -> new EtcdSystem();
      default ->
          throw new IllegalArgumentException(
              "--systems: " + name + " (expected: eventbus, zookeeper or etcd)");
    };
  }

  /** Servers on a JVM log warnings only; without a configuration logback writes everything. */
  private static List<String> options(List<String> serverJvm) {
    return Stream.concat(
            serverJvm.stream(), Stream.of("-Dlogback.configurationFile=loadtest-logback.xml"))
        .toList();
  }
}
