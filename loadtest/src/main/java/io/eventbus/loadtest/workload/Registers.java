package io.eventbus.loadtest.workload;

import java.time.Duration;
import java.util.List;

/**
 * Registers on several servers that clients write in closed loops, instead of events.
 *
 * @param clients connections, each with commands in flight
 * @param inFlight commands in flight of each client
 * @param kills servers that are killed in the measured part, the first 500 ms after its beginning,
 *     each further one 500 ms later
 * @param placement servers that clients connect to
 * @param changes number of changes that are timed, for {@link Operation#VISIBILITY}
 * @param recovery load after killed servers were started again, before the next run is measured
 * @param data directory of the servers' data
 */
public record Registers(
    int servers,
    int clients,
    int inFlight,
    Operation operation,
    List<Victim> kills,
    Placement placement,
    int changes,
    Duration recovery,
    String data) {
  /** The most commands in flight of all clients: each has a thread. */
  private static final int MAX_IN_FLIGHT = 2_000;

  /** Operation of the clients. */
  public enum Operation {
    /** Write a register. */
    WRITE,
    /** Read a list, change it, and write it back if nobody else did meanwhile. */
    TRANSACTION,
    /** Have one more server join in each run. */
    JOIN,
    /** Ask three more servers than vote when they saw changes. */
    VISIBILITY
  }

  /** Server that is killed. */
  public enum Victim {
    /** The first server that does not lead. */
    FOLLOWER,
    /** The server that leads. */
    LEADER
  }

  /**
   * Servers that clients connect to. A bus writes through the leader's process, and so do the
   * registry's clients with either; for them this says from which server they read.
   */
  public enum Placement {
    /** The server that leads when a client connects. */
    LEADER,
    /** The servers in turn, as the systems' own clients do by default. */
    SPREAD
  }

  /** Checks the figures. */
  public Registers {
    Workload.require("registers.servers", servers, 1, 9);
    Workload.require("registers.clients", clients, 1, 1_000);
    Workload.require("registers.inFlight", inFlight, 1, 1_000);
    Workload.require("registers: clients x inFlight", (long) clients * inFlight, 1, MAX_IN_FLIGHT);
    Workload.require("registers.changes", changes, 1, 50_000);
    Workload.requireDuration("registers.recovery", recovery, Duration.ofHours(1));
    kills = List.copyOf(kills);
    if (2 * kills.size() >= servers && !kills.isEmpty()) {
      throw new IllegalArgumentException(
          "registers.kills: " + kills.size() + " (expected: fewer than half of the servers)");
    }
  }
}
