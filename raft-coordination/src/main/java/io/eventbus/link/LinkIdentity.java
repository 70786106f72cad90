package io.eventbus.link;

import java.security.SecureRandom;
import java.util.Objects;

/**
 * Identity of this bus towards others. Any thread may call any method.
 *
 * <p>The cluster is learned once: a bus that belongs to none yet may open links to any cluster and
 * may be reached by any bus of the same kind.
 */
public final class LinkIdentity {
  private final String name;
  private final String bus;
  private final long instance;
  private volatile String cluster;

  /**
   * Creates an identity with a new number for this process.
   *
   * @param bus the bus's id: at most 64 letters, digits, '.', '_' and '-'
   * @param cluster the id of its cluster; empty if it has none yet
   */
  public LinkIdentity(String bus, String cluster) {
    this("", bus, cluster);
  }

  /**
   * Creates an identity with a new number for this process, for a named cluster.
   *
   * @param name the cluster's name, as long as a bus's id; no links are opened between buses that
   *     were given different names, whether they belong to a cluster yet or not
   * @param bus the bus's id: at most 64 letters, digits, '.', '_' and '-'
   * @param cluster the id of its cluster; empty if it has none yet
   */
  public LinkIdentity(String name, String bus, String cluster) {
    this.name = Objects.requireNonNull(name, "name");
    this.bus = Objects.requireNonNull(bus, "bus");
    this.cluster = Objects.requireNonNull(cluster, "cluster");
    this.instance = new SecureRandom().nextLong();
  }

  /**
   * Sets the cluster.
   *
   * @param id its id
   * @throws IllegalStateException if the bus belongs to another one already
   */
  public synchronized void joined(String id) {
    if (!cluster.isEmpty() && !cluster.equals(id)) {
      throw new IllegalStateException("cluster: " + cluster + " (cannot become " + id + ")");
    }
    cluster = id;
  }

  /**
   * Returns the name of the cluster.
   *
   * @return the name, or empty
   */
  public String name() {
    return name;
  }

  /**
   * Returns the cluster.
   *
   * @return its id, or empty
   */
  public String cluster() {
    return cluster;
  }

  /**
   * Returns the bus.
   *
   * @return its id
   */
  public String bus() {
    return bus;
  }

  /**
   * Returns the number of this process.
   *
   * @return a random number
   */
  public long instance() {
    return instance;
  }

  LinkPeer asPeer(String channel) {
    return new LinkPeer(name, cluster, bus, instance, channel);
  }
}
