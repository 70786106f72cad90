package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Who is killed when, as in the paper: the first after 500 ms, the second after 1,000 ms. */
public enum CoordinationScenario {
  /** One follower. */
  ONE_FOLLOWER("1F", 3, 1, false),
  /** The leader. */
  LEADER("1L", 3, 0, true),
  /** Two followers. */
  TWO_FOLLOWERS("2F", 5, 2, false),
  /** A follower, then the leader. */
  FOLLOWER_AND_LEADER("1F1L", 5, 1, true);

  private static final Duration STEP = Duration.ofMillis(500);

  private final String label;
  private final int leastServers;
  private final int followers;
  private final boolean leader;

  CoordinationScenario(String label, int leastServers, int followers, boolean leader) {
    this.label = label;
    this.leastServers = leastServers;
    this.followers = followers;
    this.leader = leader;
  }

  /**
   * A server to kill, which is chosen at that moment.
   *
   * @param at how long after the beginning
   */
  record Kill(boolean leader, Duration at) {
    /**
     * Chooses the server: the first follower, or the leader.
     *
     * @param leading the one that leads now, -1 if none is known
     */
    int choose(List<Integer> alive, int leading) {
      if (leading < 0) {
        throw new CoordinationException("leader", "none is known at the moment of the kill");
      }
      if (leader) {
        return leading;
      }
      return alive.stream()
          .filter(server -> server != leading)
          .findFirst()
          .orElseThrow(() -> new CoordinationException("follower", "none runs"));
    }
  }

  /** Returns the paper's name. */
  public String label() {
    return label;
  }

  /** Whether a majority stays when these are gone. */
  boolean fits(int servers) {
    return servers >= leastServers;
  }

  /** Followers first, the leader last. */
  List<Kill> kills() {
    List<Kill> kills = new ArrayList<>();
    int all = followers + (leader ? 1 : 0);
    for (int i = 0; i < all; i++) {
      kills.add(new Kill(i >= followers, STEP.multipliedBy(i + 1L)));
    }
    return kills;
  }
}
