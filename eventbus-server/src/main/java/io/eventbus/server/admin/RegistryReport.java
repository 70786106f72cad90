package io.eventbus.server.admin;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.RegistryStatus;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Registry as this bus sees it, for the API: numbers with their units in their names.
 *
 * @param cluster the number that the cluster was given when it was founded; empty for none
 * @param bus this bus; null for none yet
 * @param leader the bus that leads; null for none
 * @param term the term of the consensus; -1 for none
 * @param leaseAgeMillis how long ago the lease was renewed; null for none
 * @param silenceMillis for how long this bus may have missed what the leader knows
 * @param commits how long commits took while this bus led
 */
record RegistryReport(
    String cluster,
    @Nullable String bus,
    String role,
    @Nullable String leader,
    long term,
    long leaderChanges,
    boolean changing,
    long version,
    Log log,
    @Nullable Long leaseAgeMillis,
    long silenceMillis,
    Commits commits) {

  /** Log of the consensus; see {@link RegistryStatus.Log}. */
  record Log(
      long committedIndex,
      long appliedIndex,
      long applyLag,
      long snapshotIndex,
      long entries,
      long bytes) {}

  /** Durations of commits, in milliseconds. */
  record Commits(long count, double p50Millis, double p99Millis, double maxMillis) {}

  /**
   * Member of the cluster.
   *
   * @param state JOINING, UP, DRAINING, DOWN, or NONE for not registered
   * @param number the number of its present life; null for not registered
   * @param zone its zone; null for not registered
   * @param version its software; null for not registered
   * @param address where its links are reached; empty for unknown
   * @param logIndex how much of the log it is known to have; -1 for unknown
   */
  record Member(
      String bus,
      String role,
      String state,
      @Nullable Integer number,
      @Nullable String zone,
      @Nullable String version,
      String address,
      long logIndex,
      long leaseLeftMillis) {
    static Member of(ClusterMember member) {
      BusInfo info = member.info();
      return new Member(
          member.bus().value(),
          member.role().name(),
          info == null ? "NONE" : info.state().name(),
          info == null ? null : info.number(),
          info == null ? null : info.description().zone(),
          info == null ? null : info.description().softwareVersion(),
          member.address(),
          member.logIndex(),
          member.leaseLeftMillis());
    }
  }

  static RegistryReport of(RegistryStatus status) {
    RegistryStatus.Log log = status.log();
    Duration age = status.leaseAge();
    return new RegistryReport(
        status.cluster(),
        text(status.bus()),
        status.role().name(),
        text(status.leader()),
        status.term(),
        status.leaderChanges(),
        status.changing(),
        status.version(),
        new Log(
            log.committedIndex(),
            log.appliedIndex(),
            log.applyLag(),
            log.snapshotIndex(),
            log.entries(),
            log.bytes()),
        age == null ? null : age.toMillis(),
        status.silence().toMillis(),
        commits(status.commits()));
  }

  private static Commits commits(CommitLatency latency) {
    return new Commits(
        latency.count(),
        millis(latency.quantile(0.5)),
        millis(latency.quantile(0.99)),
        millis(latency.longest()));
  }

  private static double millis(Duration duration) {
    return duration.toNanos() / 1_000_000.0;
  }

  private static @Nullable String text(@Nullable BusId bus) {
    return bus == null ? null : bus.value();
  }
}
