package io.eventbus.simulation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Events published anywhere to topics that any number of buses want, by trees of a fanout; with
 * buses that die while events are on their way.
 */
final class Forwarding {
  private static final long LOOK = 50 * Simulator.MILLI;
  private static final long MAX_NANOS = 60 * Simulator.SECOND;

  /** Time to settle: longer than until a lost bus is given up. */
  private static final long SETTLE = 25 * Simulator.SECOND;

  /**
   * Outcome of the run.
   *
   * @param never events that did not arrive
   * @param strays events that came to a bus that did not want them
   * @param reordered first copies that came after a later one
   * @param leaked bytes that the buses did not release when they ended
   */
  record Outcome(
      int buses,
      int fanout,
      int killed,
      long events,
      long targets,
      long once,
      long twice,
      long never,
      long strays,
      long reordered,
      int hops,
      int bound,
      long leaked,
      long fingerprint) {

    /** Returns the deviations from the expected. */
    List<String> missed() {
      Targets wanted = new Targets();
      wanted.none("never", never);
      wanted.none("strays", strays);
      // Only events that a bus that died may have passed on or not come again.
      wanted.within("twice", twice, killed == 0 ? 0 : targets);
      wanted.none("reordered", reordered);
      wanted.within("hops", hops, bound);
      wanted.none("leaked", leaked);
      return wanted.missed();
    }
  }

  private record Published(int bus, String topic, long producer, long sequence) {}

  private final SimulatedCluster cluster;
  private final Simulator simulator;
  private final SplittableRandom random;
  private final int fanout;
  private final List<Published> published = new ArrayList<>();
  private final Set<Integer> killed = new HashSet<>();
  private final List<String> topics = new ArrayList<>();

  private Forwarding(long seed, int buses, int fanout) {
    this.cluster = new SimulatedCluster(seed, buses, SimulatedCluster.fanout(fanout));
    this.simulator = cluster.simulator;
    this.random = simulator.random(8);
    this.fanout = fanout;
  }

  /**
   * Runs it.
   *
   * @param kills number of buses that die after half of the events
   */
  static Outcome run(
      long seed,
      int buses,
      int fanout,
      int topics,
      int producers,
      int each,
      int kills,
      Progress progress) {
    Forwarding it = new Forwarding(seed, buses, fanout);
    it.simulator.tell(progress);
    return it.run(topics, producers, each, kills);
  }

  static Outcome run(
      long seed, int buses, int fanout, int topics, int producers, int each, int kills) {
    return run(seed, buses, fanout, topics, producers, each, kills, Progress.NONE);
  }

  private Outcome run(int topicCount, int producers, int each, int kills) {
    int n = cluster.buses.size();
    cluster.start();
    for (int t = 0; t < topicCount; t++) {
      String topic = "tree." + t;
      topics.add(topic);
      double share = t == 0 ? 1 : random.nextDouble();
      for (int bus = 0; bus < n; bus++) {
        if (random.nextDouble() < share) {
          cluster.want(bus, topic, topic);
        }
      }
    }
    simulator.runUntil(
        () -> cluster.isStarted() && cluster.knowsOnlyWhoIsThere(0), LOOK, MAX_NANOS);
    int[][] homes = new int[topicCount][producers];
    for (int[] home : homes) {
      for (int p = 0; p < producers; p++) {
        home[p] = random.nextInt(n);
      }
    }
    for (int e = 1; e <= each; e++) {
      if (e == each / 2 + 1) {
        kill(kills, homes);
      }
      for (int t = 0; t < topicCount; t++) {
        for (int p = 0; p < producers; p++) {
          publish(homes[t][p], topics.get(t), 1 + t * 1000L + p, e);
        }
      }
      simulator.run(random.nextLong(5 * Simulator.MILLI));
    }
    simulator.run(SETTLE);
    return outcome(kills);
  }

  /** Kills buses without a producer while they pass events on. */
  private void kill(int count, int[][] homes) {
    Set<Integer> publishing = new HashSet<>();
    for (int[] home : homes) {
      for (int bus : home) {
        publishing.add(bus);
      }
    }
    while (killed.size() < count) {
      int bus = random.nextInt(cluster.buses.size());
      if (!publishing.contains(bus) && killed.add(bus)) {
        cluster.network.kill(bus);
      }
    }
  }

  private void publish(int bus, String topic, long producer, long sequence) {
    published.add(new Published(bus, topic, producer, sequence));
    cluster.buses.get(bus).publish(topic, producer, sequence);
  }

  private Outcome outcome(int kills) {
    long targets = 0;
    long once = 0;
    long twice = 0;
    long never = 0;
    long strays = 0;
    for (Published event : published) {
      for (SimulatedBus bus : cluster.buses) {
        if (killed.contains(bus.number())) {
          continue;
        }
        int times = bus.inbox().times(event.topic(), event.producer(), event.sequence());
        if (!cluster.wants(bus.number(), event.topic())) {
          strays += times;
          continue;
        }
        targets++;
        if (times == 0) {
          never++;
        } else if (times == 1) {
          once++;
        } else {
          twice++;
        }
      }
    }
    int hops = 0;
    for (SimulatedBus bus : cluster.buses) {
      List<Long> by = bus.federation.figures().hops();
      for (int i = 0; i < by.size(); i++) {
        if (by.get(i) > 0) {
          hops = Math.max(hops, i + 1);
        }
      }
    }
    return new Outcome(
        cluster.buses.size(),
        fanout,
        kills,
        published.size(),
        targets,
        once,
        twice,
        never,
        strays,
        cluster.buses.stream().mapToLong(bus -> bus.inbox().reordered()).sum(),
        hops,
        depth(cluster.buses.size() - 1, fanout),
        cluster.end(),
        cluster.fingerprint());
  }

  /** Returns the levels of a tree with so many buses below the root. */
  static int depth(int buses, int fanout) {
    int levels = 0;
    for (int left = buses; left > 0; levels++) {
      // The largest branch: its child takes the frame, and the rest goes on.
      left = (left + fanout - 1) / fanout - 1;
    }
    return levels;
  }
}
