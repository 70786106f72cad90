package io.eventbus.registry.ratis;

import io.eventbus.raft.GateLimits;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.state.RegistryLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Settings of a bus for the registry of a cluster.
 *
 * @param directory the directory of this bus's copy; of its own, on a disk that survives a restart
 * @param advertised the address of this bus's links for other buses
 * @param seeds addresses of other buses for the very first start, this one may be among them; empty
 *     for a bus that begins a cluster of its own. A bus that belongs to a cluster already only
 *     learns new addresses from them
 * @param replaceVoterAfter how long a voter's lease must have run out before another bus gets its
 *     vote, up to 365 days; default 10 minutes
 * @param electionTimeoutMin the minimum time without a leader before a follower stands for
 *     election, 50 ms to 1 minute; default 300 ms
 * @param electionTimeoutMax the maximum of that time; at least 1.5 times the minimum; default 600
 *     ms
 * @param snapshotEntries the number of log entries after which a snapshot is taken, 100 to
 *     10,000,000; default 20,000
 */
public record RatisRegistryOptions(
    Path directory,
    BusId bus,
    Endpoint advertised,
    List<Endpoint> seeds,
    int voters,
    Duration replaceVoterAfter,
    RegistryLimits limits,
    GateLimits gate,
    Duration electionTimeoutMin,
    Duration electionTimeoutMax,
    int snapshotEntries,
    int maxListeners) {
  private static final int MAX_SEEDS = 1_024;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public RatisRegistryOptions {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(bus, "bus");
    Objects.requireNonNull(advertised, "advertised");
    Objects.requireNonNull(limits, "limits");
    Objects.requireNonNull(gate, "gate");
    seeds = List.copyOf(seeds);
    check("seeds.size", seeds.size(), 0, MAX_SEEDS);
    check("voters", voters, 1, 7);
    if (voters % 2 == 0) {
      throw new IllegalArgumentException("voters: " + voters + " (expected: an odd number)");
    }
    check("replaceVoterAfter in ms", replaceVoterAfter.toMillis(), 0, 365L * 86_400_000);
    long min = electionTimeoutMin.toMillis();
    check("electionTimeoutMin in ms", min, 50, 60_000);
    check("electionTimeoutMax in ms", electionTimeoutMax.toMillis(), min + min / 2, 120_000);
    check("snapshotEntries", snapshotEntries, 100, 10_000_000);
    check("maxListeners", maxListeners, 1, 10_000);
  }

  /**
   * Creates options with all defaults.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public static RatisRegistryOptions of(
      Path directory, BusId bus, Endpoint advertised, List<Endpoint> seeds) {
    return new RatisRegistryOptions(
        directory,
        bus,
        advertised,
        seeds,
        3,
        Duration.ofMinutes(10),
        RegistryLimits.DEFAULT,
        GateLimits.DEFAULT,
        Duration.ofMillis(300),
        Duration.ofMillis(600),
        20_000,
        256);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
