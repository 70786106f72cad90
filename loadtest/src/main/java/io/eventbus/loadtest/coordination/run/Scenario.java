package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Who is killed when, as in the paper: the first after 500 ms, the second after 1,000 ms. */
public enum Scenario {
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

  Scenario(String label, int leastServers, int followers, boolean leader) {
    this.label = label;
    this.leastServers = leastServers;
    this.followers = followers;
    this.leader = leader;
  }

  /**
   * A server to kill.
   *
   * @param server its number from 0
   * @param at how long after the beginning
   */
  record Kill(int server, Duration at) {}

  /**
   * Returns the paper's name.
   *
   * @return its name
   */
  public String label() {
    return label;
  }

  /** Whether a majority stays when these are gone. */
  boolean fits(int servers) {
    return servers >= leastServers;
  }

  /** Chooses the servers: followers in the order of their numbers, the leader last. */
  List<Kill> kills(int servers, int leading) {
    List<Integer> victims = new ArrayList<>();
    for (int i = 0; i < servers && victims.size() < followers; i++) {
      if (i != leading) {
        victims.add(i);
      }
    }
    if (leader) {
      if (leading < 0) {
        throw new CoordinationException("leader", "none is known");
      }
      victims.add(leading);
    }
    List<Kill> kills = new ArrayList<>();
    for (int victim : victims) {
      kills.add(new Kill(victim, STEP.multipliedBy(kills.size() + 1L)));
    }
    return kills;
  }
}
