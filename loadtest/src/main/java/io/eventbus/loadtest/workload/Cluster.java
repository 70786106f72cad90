package io.eventbus.loadtest.workload;

import java.util.List;

/**
 * The servers of a workload, and which of them each client connects to.
 *
 * @param fanout to how many others a server sends an event itself at most, where a system lets that
 *     be chosen; those pass it on
 * @param publishers numbers of servers, from 0: publisher p connects to entry {@code p % size}
 */
public record Cluster(
    int servers, int fanout, List<Integer> publishers, List<Integer> subscribers) {
  /** The most servers. */
  public static final int MAX_SERVERS = 64;

  /** Default of the event bus. */
  public static final int DEFAULT_FANOUT = 8;

  /** A single server. */
  public static final Cluster ALONE = new Cluster(1, DEFAULT_FANOUT, List.of(0), List.of(0));

  /** Checks the figures. */
  public Cluster {
    Workload.require("cluster.servers", servers, 1, MAX_SERVERS);
    Workload.require("cluster.fanout", fanout, 1, 1024);
    publishers = places("cluster.publishers", publishers, servers);
    subscribers = places("cluster.subscribers", subscribers, servers);
  }

  private static List<Integer> places(String name, List<Integer> places, int servers) {
    if (places.isEmpty()) {
      throw new IllegalArgumentException(name + ": none (expected: numbers of servers, from 0)");
    }
    places.forEach(place -> Workload.require(name, place, 0, servers - 1L));
    return List.copyOf(places);
  }

  /**
   * Returns where a publisher connects.
   *
   * @param publisher its number, from 0
   * @return the number of the server, from 0
   */
  public int serverOfPublisher(int publisher) {
    return publishers.get(publisher % publishers.size());
  }

  /**
   * Returns where a subscriber connects.
   *
   * @param subscriber its number, from 0
   * @return the number of the server, from 0
   */
  public int serverOfSubscriber(int subscriber) {
    return subscribers.get(subscriber % subscribers.size());
  }
}
