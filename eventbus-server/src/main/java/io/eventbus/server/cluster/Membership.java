package io.eventbus.server.cluster;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkTransport;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Departure;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * Place of this bus in its registry, from start to end: {@link #open}, {@link #awaitRegistry},
 * {@link #serve}, {@link #drain}, {@link #close}, each once and in this order, on one thread. The
 * other methods are for any thread.
 *
 * <p>An implementation must not need the registry to be reachable for any of them to return.
 */
public interface Membership extends ClusterView, AutoCloseable {
  /**
   * Joins the cluster that the configuration names, or none.
   *
   * @param streams the kinds of streams that peers may open later
   * @return the membership; the bus may still be looking for its cluster
   * @throws IOException if its directory or port cannot be used; names it, and what was expected
   */
  static Membership open(
      ServerConfig config, Clock clock, LinkTransport transport, Set<String> streams)
      throws IOException {
    return config.cluster().enabled()
        ? ClusterMembership.open(config, clock, transport, streams)
        : new LocalMembership(config, clock);
  }

  /**
   * Checks the files that the configuration names, without opening anything.
   *
   * @throws IllegalArgumentException if one cannot be used; names it and the reason
   */
  static void check(ServerConfig config) {
    if (config.cluster().enabled()) {
      ClusterSecurity.of(config.cluster().security());
    }
  }

  /** Returns the name of this bus: the configured one, or the one that it had before. */
  String busName();

  /** Returns the bound port for other buses; -1 for a bus that serves alone. */
  int linkPort();

  /** Returns where other buses reach the links of this one; empty for a bus that serves alone. */
  String linkAddress();

  /** Returns the links to other buses. */
  Optional<LinkNode> links();

  @Override
  default Map<String, Long> refusedLinks() {
    return links()
        .map(node -> Map.of("stranger", node.strangers(), "too_many", node.closedForNumber()))
        .orElse(Map.of());
  }

  /** Returns the files of TLS for links. */
  Optional<TlsSource> linkTls();

  /**
   * Derives a key that all buses of the cluster have, and nothing else: 32 bytes; nothing for a bus
   * that serves alone, or whose cluster shares no secret.
   */
  Optional<byte[]> sharedKey(String purpose);

  /**
   * Waits until the registry accepts commands, for a time that suffices where a majority is there.
   *
   * @param limit the longest time to wait
   * @return whether it does
   * @throws IOException if the bus must not be in that cluster, with the reason. It may turn out
   *     later, see {@link #refused}
   */
  boolean awaitRegistry(Duration limit) throws IOException;

  /**
   * Registers the bus, which accepts clients now, and keeps it registered.
   *
   * @param adminPort the port of the administration; -1 for none
   * @param storage the generation of its data directory; 0 for none
   * @throws IOException if that fails, with the reason
   */
  void serve(InetSocketAddress clients, int adminPort, int storage) throws IOException;

  /** Returns the URLs of other buses for clients; one volatile read. */
  List<String> others();

  /**
   * Returns a stage that completes, with a reason for people, when the bus turns out not to be able
   * to join, ever; never completed if the bus joins or ends in order.
   */
  CompletionStage<String> refused();

  /**
   * Announces to the registry that this bus drains, or takes clients again; repeats it until the
   * registry knows.
   */
  CompletionStage<Void> announce(BusState state);

  /**
   * Begins to leave, and does not wait: tells the others, and hands over what this bus holds.
   *
   * @param departure whether this bus may come back; if not, {@link #close} removes it from the
   *     cluster
   */
  void drain(Departure departure);

  /** Leaves, as far as that is possible within the configured time, and releases everything. */
  @Override
  void close();
}
