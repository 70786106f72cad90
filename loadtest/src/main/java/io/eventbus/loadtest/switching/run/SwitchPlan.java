package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.driver.Fault;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Extent of the experiments.
 *
 * @param rate events per second while one client moves
 * @param members clients while buses are restarted or killed
 * @param clientRate events per second that come to each client where there are many
 * @param warmUp how long events flow before anything is asked
 * @param warmUpMoves of one client, and so much of draining as is worth it, that do not count
 * @param fault put before each subscriber on purpose, null for none
 */
public record SwitchPlan(
    int moves,
    int rate,
    int rounds,
    int hotSubscribers,
    int clients,
    int members,
    int kills,
    int clientRate,
    int payloadBytes,
    Duration warmUp,
    int warmUpMoves,
    @Nullable Fault fault) {
  /** More than once there and back a client is left alone for a minute. */
  private static final int MAX_ROUNDS = 6;

  /** Checks the figures. */
  public SwitchPlan {
    require("--moves", moves, 1, 100_000);
    require("--rate", rate, 10, 1_000_000);
    require("--rounds", rounds, 1, MAX_ROUNDS);
    require("--hot-subscribers", hotSubscribers, 1, 10_000);
    require("--clients", clients, 2, 10_000);
    require("--members", members, 6, 10_000);
    require("--kills", kills, 1, 1_000);
    require("--client-rate", clientRate, 1, 10_000);
    require("--warm-up-moves", warmUpMoves, 0, 10_000);
    require("--payload", payloadBytes, 16, 1 << 20);
    if (warmUp.isNegative() || warmUp.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("--warm-up: " + warmUp + " (expected: 0 to 3600)");
    }
  }

  private static void require(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + ".." + max + ")");
    }
  }
}
