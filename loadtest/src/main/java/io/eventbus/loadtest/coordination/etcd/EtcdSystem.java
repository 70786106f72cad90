package io.eventbus.loadtest.coordination.etcd;

import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The etcd that is installed, with a client on grpc-java. */
public final class EtcdSystem implements CoordinationSystem {
  private static final String PROGRAM = "etcd";
  private static final Pattern VERSION = Pattern.compile("etcd Version: (\\S+)");

  /** Creates the system; starts nothing. */
  public EtcdSystem() {
    // No options: it is no Java program.
  }

  @Override
  public String name() {
    return PROGRAM;
  }

  @Override
  public Availability availability() {
    Availability found =
        Programs.availability(PROGRAM, "--version", VERSION, "run loadtest/peers/install.sh etcd");
    return found.present()
        ? Availability.present(found.detail() + " (grpc-java " + LibraryVersions.of("grpc") + ")")
        : found;
  }

  @Override
  public CoordinationCluster start(int servers, Path directory) throws InterruptedException {
    Path program =
        Programs.find(PROGRAM).orElseThrow(() -> new DriverException(PROGRAM + " is absent"));
    EtcdCluster cluster = new EtcdCluster(program, servers, directory);
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
