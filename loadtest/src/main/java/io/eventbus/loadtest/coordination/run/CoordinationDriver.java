package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.coordination.VisibleSystem;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverData;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.workload.Registers;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs workloads with registers on a system that keeps small data safe on several servers. */
public final class CoordinationDriver implements Driver {
  /** Buses that join before changes are timed: three vote, three do not. */
  private static final int JOINS = 3;

  private final String name;
  private final CoordinationSystem system;

  /** Creates the driver; starts nothing. */
  public CoordinationDriver(String name, CoordinationSystem system) {
    this.name = name;
    this.system = system;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Availability availability() {
    return system.availability();
  }

  @Override
  public String lacks(Workload workload) {
    @Nullable Registers registers = workload.registers();
    if (registers == null) {
      return workload.calls() > 0 ? "calls" : "events";
    }
    return isWatched(registers) && !(system instanceof VisibleSystem) ? "visibility" : "";
  }

  private static boolean isWatched(Registers registers) {
    return registers.operation() == Registers.Operation.JOIN
        || registers.operation() == Registers.Operation.VISIBILITY;
  }

  @Override
  public Session start(Workload workload) {
    @Nullable Registers registers = workload.registers();
    if (registers == null) {
      throw new DriverException("registers: none (expected: a workload of registers)");
    }
    DriverData data = DriverData.in(Path.of(registers.data()), "loadtest-coordination-");
    try {
      CoordinationCluster cluster = system.start(registers.servers(), data.path());
      return new RegisterSession(cluster, registers, workload.payloadBytes(), data);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      data.close();
      throw new DriverException("interrupted while " + name + " starts", e);
    } catch (RuntimeException e) {
      data.close();
      throw e;
    }
  }

  private record RegisterSession(
      CoordinationCluster cluster, Registers registers, int payloadBytes, DriverData data)
      implements Session {
    @Override
    public List<Long> serverPids() {
      return cluster.pids();
    }

    @Override
    public Publisher publisher(int number) {
      throw new DriverException("publisher: none (expected: a workload of registers)");
    }

    @Override
    public Subscriber subscriber(int number, String filter, Receiver receiver) {
      throw new DriverException("subscriber: none (expected: a workload of registers)");
    }

    @Override
    public IdleHandshake idleHandshake() {
      throw new DriverException("idle connections: none (expected: a workload of registers)");
    }

    @Override
    public DriverCalls calls() {
      RegisterCalls calls = new RegisterCalls(cluster, registers, payloadBytes);
      if (!isWatched(registers)) {
        return calls;
      }
      if (!(cluster instanceof VisibleCluster visible)) {
        throw new DriverException("visibility: unknown (expected: servers that tell)");
      }
      if (registers.operation() == Registers.Operation.VISIBILITY) {
        for (int i = 0; i < JOINS; i++) {
          visible.join();
        }
      }
      return new VisibilityCalls(calls, visible, registers);
    }

    @Override
    public void close() {
      try {
        cluster.close();
      } finally {
        data.close();
      }
    }
  }
}
