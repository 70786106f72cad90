package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.ServerGroup;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.Outages;
import io.eventbus.loadtest.workload.Registers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Times how long a server takes to join, or until every server has seen a change, a hundred changes
 * a second. Both happen after the loops, which only warm up.
 */
final class VisibilityCalls implements DriverCalls {
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final RegisterCalls load;
  private final VisibleCluster cluster;
  private final Registers registers;

  VisibilityCalls(RegisterCalls load, VisibleCluster cluster, Registers registers) {
    this.load = load;
    this.cluster = cluster;
    this.registers = registers;
  }

  @Override
  public List<Long> clientPids() {
    return load.clientPids();
  }

  @Override
  public void start() {
    load.start();
  }

  @Override
  public void measure() {
    load.measure();
  }

  @Override
  public Counts counts() {
    return load.counts();
  }

  /**
   * Returns the time until a server joined, counted from when it could be called, or the times from
   * the answer to each change until the last server saw it; 0 if it saw it before.
   */
  @Override
  public Histogram stop() {
    load.stop();
    Histogram nanos = new Histogram(3);
    try {
      if (registers.operation() == Registers.Operation.JOIN) {
        nanos.recordValue((long) (cluster.join().inProcessMillis() * 1e6));
        cluster.awaitWhole();
      } else {
        watch(nanos);
      }
      return nanos;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while servers are watched", e);
    }
  }

  private void watch(Histogram nanos) throws InterruptedException {
    String register = cluster.timedRegister();
    CoordinationClient writer = load.client();
    writer.create(register, "0");
    int changes = registers.changes();
    int[] before = new int[cluster.servers()];
    for (int server = 0; server < before.length; server++) {
      before[server] = cluster.seen(server).length;
    }
    long[] answered = new long[changes];
    for (int i = 0; i < changes; i++) {
      LockSupport.parkNanos(STEP_NANOS);
      writer.write(new Put(register, Integer.toString(before[0] + i + 1)));
      answered[i] = System.nanoTime();
    }
    long[] latest = new long[changes];
    for (int server = 0; server < before.length; server++) {
      int number = server;
      ServerGroup.await(
          "server " + server + " sees all changes",
          () -> cluster.seen(number).length >= before[number] + changes);
      long[] seen = cluster.seen(server);
      for (int i = 0; i < changes; i++) {
        long at = seen[before[server] + i];
        latest[i] = server == 0 ? at : Math.max(latest[i], at);
      }
    }
    for (int i = 0; i < changes; i++) {
      nanos.recordValue(Math.max(0, latest[i] - answered[i]));
    }
  }

  @Override
  public @Nullable Outages outages() {
    return null;
  }

  @Override
  public void close() {
    load.close();
  }
}
