package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.workload.Registers.Placement;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Servers that are none, on one {@link MemoryClient}. */
final class MemorySystem implements CoordinationSystem, CoordinationCluster {
  private final String name;
  final MemoryClient client = new MemoryClient();
  final List<Integer> killed = new CopyOnWriteArrayList<>();
  final List<Integer> restarted = new CopyOnWriteArrayList<>();
  boolean closed;

  MemorySystem(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Availability availability() {
    return Availability.present("1");
  }

  @Override
  public CoordinationCluster start(int servers, Path directory) {
    return this;
  }

  @Override
  public int servers() {
    return 3;
  }

  @Override
  public List<Long> pids() {
    return List.of();
  }

  @Override
  public int leader() {
    return 0;
  }

  @Override
  public long term() {
    return 1;
  }

  @Override
  public void kill(int server) {
    killed.add(server);
  }

  @Override
  public void restart(int server) {
    restarted.add(server);
  }

  @Override
  public void awaitWhole() {
    // All of its servers always take part.
  }

  @Override
  public CoordinationClient connect(int number, Placement placement) {
    return client;
  }

  @Override
  public void close() {
    closed = true;
  }
}
