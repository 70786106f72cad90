package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationSystem;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.coordination.VisibleSystem;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.workload.Registers;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs workloads with registers on a system that keeps small data safe on several servers. */
public final class CoordinationDriver implements Driver {
  /** Longer than a server that is asked to end has. */
  private static final long SERVERS_END_SECONDS = 12;

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
    Path data = directory(registers);
    DriverStopHook hook = DriverStopHook.add("data", () -> deleteOnceServersEnded(data));
    try {
      CoordinationCluster cluster = system.start(registers.servers(), data);
      return new RegisterSession(cluster, registers, workload.payloadBytes(), data, hook);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      hook.close();
      delete(data);
      throw new DriverException("interrupted while " + name + " starts", e);
    } catch (RuntimeException e) {
      hook.close();
      delete(data);
      throw e;
    }
  }

  private static Path directory(Registers registers) {
    try {
      Path parent = Files.createDirectories(Path.of(registers.data()));
      return Files.createTempDirectory(parent, "loadtest-coordination-");
    } catch (IOException e) {
      throw new DriverException("no directory for data in " + registers.data(), e);
    }
  }

  private static void delete(Path data) {
    try {
      Directories.delete(data);
    } catch (IOException e) {
      throw new DriverException(data + " is not emptied", e);
    }
  }

  /** Deletes the data when other hooks have ended the servers, which write until then. */
  private static void deleteOnceServersEnded(Path data) {
    try {
      CompletableFuture.allOf(
              ProcessHandle.current()
                  .children()
                  .map(ProcessHandle::onExit)
                  .toArray(CompletableFuture<?>[]::new))
          .get(SERVERS_END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Deleted all the same: nobody needs what a server that hangs writes.
    }
    delete(data);
  }

  private record RegisterSession(
      CoordinationCluster cluster,
      Registers registers,
      int payloadBytes,
      Path data,
      DriverStopHook hook)
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
        hook.close();
        delete(data);
      }
    }
  }
}
