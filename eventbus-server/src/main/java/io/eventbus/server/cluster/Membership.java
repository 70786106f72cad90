package io.eventbus.server.cluster;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkTransport;
import io.eventbus.registry.BusState;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The place of this bus in its registry, from start to end: {@link #open}, {@link #serve}, {@link
 * #drain}, {@link #close}, each once and in this order, on one thread. The other methods are for
 * any thread.
 *
 * <p>An implementation must not need the registry to be reachable for any of them to return.
 */
public interface Membership extends ClusterView, AutoCloseable {
  /**
   * Takes a place in the cluster that the configuration names, or in none.
   *
   * @param streams the kinds of streams that other buses may open later
   * @return the place; the bus may still be looking for its cluster
   * @throws IOException if its directory or port cannot be used; says which, and what was expected
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
   * @throws IllegalArgumentException if one cannot be used; says which, and why
   */
  static void check(ServerConfig config) {
    if (config.cluster().enabled()) {
      ClusterSecurity.of(config.cluster().security());
    }
  }

  /**
   * Returns the name of this bus.
   *
   * @return the configured one, or the one that it had before
   */
  String busName();

  /**
   * Returns the port for other buses.
   *
   * @return the bound port; -1 for a bus that serves alone
   */
  int linkPort();

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
   * Derives a key that all buses of the cluster have, and nothing else.
   *
   * @return 32 bytes; nothing for a bus that serves alone, or whose cluster shares no secret
   */
  Optional<byte[]> sharedKey(String purpose);

  /**
   * Registers the bus, which accepts clients now, and keeps it registered.
   *
   * @param adminPort the port of the administration; -1 for none
   * @throws IOException if the bus must not be in that cluster; says why. It may turn out later,
   *     see {@link #refused}
   */
  void serve(InetSocketAddress clients, int adminPort) throws IOException;

  /** Lists where clients may go instead of here; one volatile read. */
  List<String> others();

  /**
   * Completes when the bus turns out not to be able to take its place, ever.
   *
   * @return the reason, for people; never completed where the bus joins or ends in order
   */
  CompletionStage<String> refused();

  /**
   * Tells the registry that this bus drains, or takes clients again; and tells it again until it
   * knows.
   */
  CompletionStage<Void> announce(BusState state);

  /** Begins to leave, and does not wait: tells the others, and hands over what this bus holds. */
  void drain();

  /** Leaves, as far as that is possible within the configured time, and lets everything go. */
  @Override
  void close();
}
