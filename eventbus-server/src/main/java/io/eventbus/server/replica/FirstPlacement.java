package io.eventbus.server.replica;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.placement.ShardPlacement;
import io.eventbus.server.durable.JournalRefusedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** Placement of the replicas with the first journal: at all buses of the cluster. */
final class FirstPlacement {
  private static final Duration DEADLINE = Duration.ofSeconds(3);

  private FirstPlacement() {}

  /**
   * Places a shard, unless it is placed. Fails with {@link JournalRefusedException} if a bus cannot
   * have a replica.
   */
  static CompletionStage<Void> place(Registry registry, int shard) {
    return registry
        .linearizableRead(DEADLINE)
        .thenCompose(
            snapshot ->
                snapshot.shard(shard) != null
                    ? CompletableFuture.completedFuture(null)
                    : registry
                        .submit(command(snapshot, shard), DEADLINE)
                        .thenAccept(FirstPlacement::check));
  }

  private static ShardCommand.Place command(RegistrySnapshot registry, int shard) {
    List<BusInfo> buses = List.copyOf(registry.buses());
    String unfit =
        buses.stream()
            .map(FirstPlacement::problem)
            .filter(problem -> !problem.isEmpty())
            .collect(Collectors.joining(", "));
    if (!unfit.isEmpty()) {
      throw new JournalRefusedException(
          unfit
              + " (expected: with the first journal every bus of the cluster UP, with"
              + " durable.directory)",
          false);
    }
    ShardCommand.Place place = ShardPlacement.next(registry, shard);
    if (place == null || buses.size() > ShardInfo.MAX_REPLICAS) {
      throw new JournalRefusedException(
          "the cluster has "
              + buses.size()
              + " buses (expected: 1 to "
              + ShardInfo.MAX_REPLICAS
              + ")",
          false);
    }
    return place;
  }

  private static String problem(BusInfo bus) {
    if (bus.state() != BusState.UP) {
      return bus.id() + " is " + bus.state();
    }
    return bus.description().storage() == 0 ? bus.id() + " has no data directory" : "";
  }

  private static void check(CommandResult result) {
    // Another bus may have been faster.
    if (result instanceof CommandResult.Refused refused
        && refused.reason() != RegistryRefusalReason.STALE_SHARD) {
      throw new JournalRefusedException(refused.message(), false);
    }
  }
}
