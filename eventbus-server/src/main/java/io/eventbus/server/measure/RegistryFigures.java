package io.eventbus.server.measure;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.MemberRole;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.server.cluster.ClusterView;
import io.eventbus.server.view.BusStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Figures of the registry for the metrics. */
public final class RegistryFigures {
  private RegistryFigures() {}

  public static BusStats.Registry of(ClusterView cluster) {
    RegistryStatus status = cluster.registry().administration().status();
    Map<String, Long> buses = new LinkedHashMap<>();
    for (BusState state : BusState.values()) {
      buses.put(state.name().toLowerCase(Locale.ROOT), 0L);
    }
    for (BusInfo bus : cluster.registry().snapshot().buses()) {
      buses.merge(bus.state().name().toLowerCase(Locale.ROOT), 1L, Long::sum);
    }
    return new BusStats.Registry(
        buses,
        status.role() == MemberRole.LEADER,
        Math.max(0, status.term()),
        status.leaderChanges(),
        commits(status.commits()),
        status.log().entries(),
        status.log().bytes(),
        status.log().applyLag(),
        seconds(cluster.leaseAge()),
        seconds(status.silence()));
  }

  private static BusStats.Histogram commits(CommitLatency commits) {
    List<BusStats.Bucket> buckets = new ArrayList<>();
    long below = 0;
    for (CommitLatency.Bucket bucket : commits.buckets()) {
      buckets.add(new BusStats.Bucket(seconds(bucket.upTo()), bucket.count() - below));
      below = bucket.count();
    }
    buckets.add(new BusStats.Bucket(Double.POSITIVE_INFINITY, commits.count() - below));
    return new BusStats.Histogram(buckets, seconds(commits.total()));
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }
}
