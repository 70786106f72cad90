package io.eventbus.loadtest.run;

import com.sun.management.UnixOperatingSystemMXBean;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** Opens connections that do nothing, and finds what each costs the server. */
final class IdleRun {
  private static final Duration CONNECT = Duration.ofMinutes(2);

  /** File descriptors that a process needs beside its connections. */
  private static final int SPARE_FILES = 200;

  private static final int CONNECTS = 0;
  private static final int RSS = 1;
  private static final int LOST = 2;

  private final Workload workload;
  private final ProcessMeter server;

  IdleRun(Workload workload, ProcessMeter server) {
    this.workload = workload;
    this.server = server;
  }

  IdleCost run(Driver.Session session) {
    requireFiles(workload.idle());
    IdleHandshake handshake = session.idleHandshake();
    try {
      double[] first = open(handshake);
      // The second time this process no longer interprets its own code, nor does a server on a JVM.
      double[] second = open(handshake);
      return new IdleCost(
          workload.idle(), second[CONNECTS], first[RSS], (long) (first[LOST] + second[LOST]));
    } catch (IOException e) {
      throw new DriverException("idle connections", e);
    }
  }

  /** Opens all, holds them, and closes them: connects/s, bytes for each, lost ones. */
  private double[] open(IdleHandshake handshake) throws IOException {
    try (IdleConnections connections = new IdleConnections(handshake)) {
      // Work that a server still has from before is no cost of these connections.
      connections.hold(workload.warmUp());
      long before = server.rssBytes();
      long nanos = connections.open(workload.idle(), CONNECT);
      connections.hold(workload.duration());
      long after = server.rssBytes();
      boolean known = before != ProcessMeter.UNKNOWN && after != ProcessMeter.UNKNOWN;
      return new double[] {
        workload.idle() / (nanos / 1e9),
        known ? (double) (after - before) / workload.idle() : ProcessMeter.UNKNOWN,
        connections.lost()
      };
    }
  }

  private static void requireFiles(int connections) {
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        && system.getMaxFileDescriptorCount() < connections + SPARE_FILES) {
      throw new DriverException(
          "file descriptors: at most "
              + system.getMaxFileDescriptorCount()
              + " (expected: >= "
              + (connections + SPARE_FILES)
              + " for load test and server each; raise it with: ulimit -n "
              + 2 * connections
              + ")");
    }
  }
}
