package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.Placement;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the experiments are made.
 *
 * @param warmUp load on each system before anything is measured
 * @param recovery load after servers were started again, before the next phase is measured
 * @param placement which servers clients talk to; null if each experiment decides
 */
public record Plan(
    List<Integer> servers,
    List<Integer> clients,
    int payloadBytes,
    Duration warmUp,
    Duration duration,
    int rounds,
    int pipelines,
    int inFlight,
    Duration pipelinedDuration,
    int kills,
    int changes,
    Duration recovery,
    @Nullable Placement placement) {
  /** Checks the values. */
  public Plan {
    servers = List.copyOf(servers);
    clients = List.copyOf(clients);
    if (servers.isEmpty() || clients.isEmpty()) {
      throw new IllegalArgumentException("servers, clients: none (expected: at least one)");
    }
    servers.forEach(count -> check("servers", count, 1, 9));
    clients.forEach(count -> check("clients", count, 1, 1_000));
    check("payload", payloadBytes, 20, 1_000);
    check("rounds", rounds, 1, 1_000);
    check("pipelines", pipelines, 1, 1_000);
    check("in-flight", inFlight, 2, 1_000);
    check("kills", kills, 1, 1_000);
    check("changes", changes, 1, 50_000);
    check("duration in ms", duration.toMillis(), 100, 3_600_000);
    check("pipelined duration in ms", pipelinedDuration.toMillis(), 100, 3_600_000);
    check("recovery warm-up in ms", recovery.toMillis(), 0, 3_600_000);
    check("warm-up in ms", warmUp.toMillis(), 100, 3_600_000);
  }

  /** Which servers clients talk to in an experiment that would have them so. */
  Placement placementOr(Placement usual) {
    return placement == null ? usual : placement;
  }

  int mostClients() {
    return clients.stream().mapToInt(Integer::intValue).max().orElse(1);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
