package io.eventbus.simulation;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.subscription.Routes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Buses of a cluster with the subscriptions of their clients, and whether each bus knows what it
 * should.
 */
final class SimulatedCluster {
  /** Latency between machines of one or two data centres. */
  static final Network.Latency LATENCY = new Network.Latency(200_000, 2 * Simulator.MILLI);

  /** Lease, the default of {@code cluster.lease}. */
  static final long LEASE_MILLIS = 10_000;

  private static final int SHARED = 20;
  private static final int AREAS = 10;
  private static final long START_SPREAD = 2 * Simulator.SECOND;

  final Simulator simulator;
  final Network network;
  final Consensus consensus;
  final List<SimulatedBus> buses = new ArrayList<>();

  // Subscriptions: by topic, the numbers of the buses.
  private final Map<String, Set<Integer>> wanted = new TreeMap<>();
  private final Map<String, String> filters = new HashMap<>();
  private int[] sides;

  /** Bus at which the last check failed: the next one begins there. */
  private int suspect;

  SimulatedCluster(long seed, int count, FederationConfig config) {
    simulator = new Simulator(seed);
    network = new Network(simulator, LATENCY);
    for (int i = 0; i < count; i++) {
      buses.add(new SimulatedBus(simulator, network, i, config));
    }
    network.hosts(buses);
    sides = new int[count];
    int first = simulator.random(1).nextInt(count);
    consensus =
        new Consensus(
            simulator,
            network,
            buses.stream().map(bus -> bus.registry).toList(),
            new int[] {first, (first + count / 3) % count, (first + 2 * count / 3) % count},
            LEASE_MILLIS);
  }

  static FederationConfig defaults() {
    return ServerConfig.defaults().federation();
  }

  /** Returns the defaults with another fanout. */
  static FederationConfig fanout(int fanout) {
    FederationConfig d = defaults();
    return new FederationConfig(
        fanout,
        d.queueBytes(),
        d.memoryPercent(),
        d.filters(),
        d.syncTimeout(),
        d.peerTimeout(),
        d.heartbeat(),
        d.keepaliveTimeout());
  }

  /** Starts all buses within two seconds, each with clients. */
  void start() {
    consensus.start();
    SplittableRandom random = simulator.random(2);
    for (SimulatedBus bus : buses) {
      int i = bus.number();
      want(i, "own." + bus.name(), "own." + bus.name());
      want(i, "shared." + i % SHARED, "shared." + i % SHARED);
      want(i, "area." + i % AREAS + ".*", "area." + i % AREAS + ".news");
      simulator.after(
          random.nextLong(START_SPREAD),
          () -> {
            bus.start();
            new Keeper(simulator, consensus, i, bus.name(), LEASE_MILLIS).turn();
          });
    }
  }

  /** Subscribes a client of a bus; the topic is one that the filter matches. */
  void want(int bus, String filter, String topic) {
    filters.put(topic, filter);
    if (wanted.computeIfAbsent(topic, t -> new HashSet<>()).add(bus)) {
      buses.get(bus).subscribe(filter);
    }
  }

  void unwant(int bus, String topic) {
    String filter = filters.get(topic);
    if (filter != null && wanted.getOrDefault(topic, new HashSet<>()).remove(bus)) {
      buses.get(bus).unsubscribe(filter);
    }
  }

  boolean wants(int bus, String topic) {
    return wanted.getOrDefault(topic, Set.of()).contains(bus);
  }

  void cut(int[] newSides) {
    sides = newSides.clone();
    network.cut(newSides);
  }

  void heal() {
    sides = new int[sides.length];
    network.heal();
  }

  int side(int bus) {
    return sides[bus];
  }

  private interface Look {
    boolean isRight(SimulatedBus bus);
  }

  private boolean everywhere(int side, Look look) {
    for (int i = 0; i < buses.size(); i++) {
      SimulatedBus bus = buses.get((suspect + i) % buses.size());
      if (sides[bus.number()] == side && !look.isRight(bus)) {
        suspect = bus.number();
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether every bus of a side has lanes to all others of it and to nobody else, and
   * routes every topic to all buses of the side that want it.
   */
  boolean knowsWhoIsThere(int side) {
    return everywhere(side, bus -> hasRightLanes(bus) && hasRoutes(bus, false));
  }

  /** Returns whether, besides, nothing is routed to anybody else. */
  boolean knowsOnlyWhoIsThere(int side) {
    return everywhere(side, bus -> hasRightLanes(bus) && hasRoutes(bus, true));
  }

  private boolean hasRightLanes(SimulatedBus bus) {
    for (SimulatedBus other : buses) {
      if (other != bus
          && bus.federation.reaches(new BusId(other.name()))
              != (sides[bus.number()] == sides[other.number()])) {
        return false;
      }
    }
    return true;
  }

  private boolean hasRoutes(SimulatedBus bus, boolean exactly) {
    for (Map.Entry<String, Set<Integer>> topic : wanted.entrySet()) {
      Set<String> routed = Routes.remote(bus.index, topic.getKey());
      int right = 0;
      for (int number : topic.getValue()) {
        if (number != bus.number() && sides[number] == sides[bus.number()]) {
          right++;
          if (!routed.contains("bus " + buses.get(number).name())) {
            return false;
          }
        }
      }
      if (exactly && routed.size() != right) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether every bus of a side has a copy of the registry with the true states of all. */
  boolean registryKnows(int side) {
    for (SimulatedBus bus : buses) {
      if (sides[bus.number()] == side) {
        for (SimulatedBus other : buses) {
          BusInfo info = bus.registry.snapshot().bus(new BusId(other.name()));
          boolean up = info != null && info.state() == BusState.UP;
          if (up != (sides[other.number()] == side)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /** Ends all buses; returns the bytes that they have not released. */
  long end() {
    buses.forEach(SimulatedBus::end);
    network.end();
    return buses.stream().mapToLong(SimulatedBus::held).sum();
  }

  boolean isStarted() {
    return buses.stream().noneMatch(bus -> bus.federation.isStarting());
  }

  /** Returns a number that depends on everything that has happened. */
  long fingerprint() {
    long h = simulator.events();
    h = 31 * h + network.messages();
    h = 31 * h + network.bytes();
    h = 31 * h + consensus.committed().version();
    for (SimulatedBus bus : buses) {
      h = 31 * h + bus.inbox().total();
    }
    return h;
  }
}
