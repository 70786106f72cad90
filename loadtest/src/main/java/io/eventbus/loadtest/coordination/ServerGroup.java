package io.eventbus.loadtest.coordination;

import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Registers.Placement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The processes of one cluster's servers, by number. For one thread. */
public final class ServerGroup implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(90);
  private static final int LOOK_MILLIS = 20;

  private final List<ServerProcess> processes = new ArrayList<>();

  /** Creates a group with no process. */
  public ServerGroup() {
    // Nothing is there yet.
  }

  /** Adds the next server. */
  public void add(ServerProcess process) {
    processes.add(process);
  }

  /**
   * Puts a process in the place of one that ended.
   *
   * @param server its number from 0
   */
  public void replace(int server, ServerProcess process) {
    processes.set(server, process).close();
  }

  /**
   * Kills a server with SIGKILL and waits until its process is gone.
   *
   * @param server its number from 0
   */
  public void kill(int server) {
    processes.get(server).kill();
  }

  /**
   * Returns whether a server runs.
   *
   * @param server its number from 0
   */
  public boolean isAlive(int server) {
    return processes.get(server).isAlive();
  }

  /** Returns the processes that run. */
  public List<Long> pids() {
    return processes.stream().filter(ServerProcess::isAlive).map(ServerProcess::pid).toList();
  }

  /**
   * Waits for what servers bring about.
   *
   * @param condition is looked at some times a second
   * @throws InterruptedException if the thread is interrupted
   */
  public static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new CoordinationException(
            "start", "not within " + DEADLINE.toSeconds() + " s: " + what);
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
  }

  /**
   * Finds the server that a client is to talk to.
   *
   * @param client the client's number from 0
   * @return the server's number from 0
   */
  public static int place(CoordinationCluster cluster, int client, Placement placement) {
    if (placement == Placement.SPREAD) {
      return client % cluster.servers();
    }
    int leader = cluster.leader();
    if (leader < 0) {
      throw new CoordinationException("leader", "none is known");
    }
    return leader;
  }

  @Override
  public void close() {
    ServerProcess.killAll(processes);
  }
}
