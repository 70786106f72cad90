package io.eventbus.server.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Membership of the bus in a cluster.
 *
 * @param id name of the cluster
 * @param directory where the bus keeps its copy of the registry, or null where nobody has said
 * @param join where the links of other buses are
 * @param founders how many buses must have found each other before they found a cluster
 * @param discovery the search on the local network
 * @param host address to listen on for other buses, or null for what the security allows
 * @param port TCP port for other buses, 0 for a free one
 * @param advertised where other buses reach this one, or null to find out
 * @param clientUrls where clients reach this bus, as told to others; empty to find out
 * @param voters how many buses vote
 * @param zone what fails together with this bus
 * @param lease how long a bus counts as alive after it was heard of
 * @param replaceVoterAfter how long a voter's lease must have run out before it is replaced
 * @param leave how long a stopping bus waits to hand over what it holds
 * @param security how buses make sure of each other
 */
public record ClusterConfig(
    String id,
    @Nullable Path directory,
    List<HostPort> join,
    int founders,
    DiscoveryConfig discovery,
    @Nullable String host,
    int port,
    @Nullable HostPort advertised,
    List<String> clientUrls,
    int voters,
    String zone,
    Duration lease,
    Duration replaceVoterAfter,
    Duration leave,
    ClusterSecurityConfig security) {
  private static final Path DEFAULT_DIRECTORY = Path.of("eventbus-data");
  private static final String LOOPBACK = "127.0.0.1";
  private static final String ALL = "0.0.0.0";
  private static final int MAX_JOIN = 64;
  private static final int MAX_CLIENT_URLS = 8;

  /**
   * Checks every value, and that a cluster which other machines can reach keeps strangers out.
   *
   * @param id name of the cluster
   * @param directory where the bus keeps its copy of the registry, or null where nobody has said
   * @param join where the links of other buses are
   * @param founders how many buses must have found each other before they found a cluster
   * @param discovery the search on the local network
   * @param host address to listen on for other buses, or null for what the security allows
   * @param port TCP port for other buses, 0 for a free one
   * @param advertised where other buses reach this one, or null to find out
   * @param clientUrls where clients reach this bus, as told to others; empty to find out
   * @param voters how many buses vote
   * @param zone what fails together with this bus
   * @param lease how long a bus counts as alive after it was heard of
   * @param replaceVoterAfter how long a voter's lease must have run out before it is replaced
   * @param leave how long a stopping bus waits to hand over what it holds
   * @param security how buses make sure of each other
   * @throws IllegalArgumentException if a value is illegal or does not fit the others
   */
  public ClusterConfig {
    TextCheck.name(ConfigKey.CLUSTER_ID, id);
    TextCheck.name(ConfigKey.CLUSTER_ZONE, zone);
    ConfigKey.CLUSTER_FOUNDERS.inRange(founders);
    ConfigKey.CLUSTER_PORT.inRange(port);
    ConfigKey.CLUSTER_VOTERS.inRange(voters);
    ConfigKey.CLUSTER_LEASE.inRange(lease);
    ConfigKey.CLUSTER_REPLACE_VOTER_AFTER.inRange(replaceVoterAfter);
    ConfigKey.CLUSTER_LEAVE.inRange(leave);
    if (voters % 2 == 0) {
      throw wrong(ConfigKey.CLUSTER_VOTERS, voters, "1, 3, 5 or 7");
    }
    join = List.copyOf(join);
    if (join.size() > MAX_JOIN) {
      throw wrong(ConfigKey.CLUSTER_JOIN, join.size() + " addresses", "at most " + MAX_JOIN);
    }
    clientUrls = List.copyOf(clientUrls);
    if (clientUrls.size() > MAX_CLIENT_URLS) {
      throw wrong(
          ConfigKey.CLUSTER_CLIENT_URLS, clientUrls.size() + " URLs", "at most " + MAX_CLIENT_URLS);
    }
    clientUrls.forEach(ClusterConfig::checkUrl);
    if (host != null) {
      TextCheck.host(ConfigKey.CLUSTER_HOST, host);
    }
    if (!security.enabled()) {
      if (host != null) {
        onThisMachine(ConfigKey.CLUSTER_HOST, host);
      }
      if (advertised != null) {
        onThisMachine(ConfigKey.CLUSTER_ADVERTISED, advertised.host());
      }
      join.forEach(other -> onThisMachine(ConfigKey.CLUSTER_JOIN, other.host()));
    }
  }

  private static void onThisMachine(ConfigKey key, String host) {
    if (!HostPort.isLoopback(host)) {
      throw wrong(
          key,
          '"' + host + '"',
          "localhost or another loopback address, because without cluster.secret,"
              + " cluster.secret-file or cluster.tls-certificate anybody could become a member");
    }
  }

  private static void checkUrl(String url) {
    boolean good = false;
    try {
      URI uri = new URI(url);
      good =
          ("ws".equals(uri.getScheme()) || "wss".equals(uri.getScheme()))
              && uri.getHost() != null
              && uri.getUserInfo() == null
              && url.length() <= 255
              && url.chars().allMatch(c -> c > 0x20 && c < 0x7F);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          wrong(
                  ConfigKey.CLUSTER_CLIENT_URLS,
                  '"' + url + '"',
                  ConfigKey.CLUSTER_CLIENT_URLS.type().expectation())
              .getMessage(),
          e);
    }
    if (!good) {
      throw wrong(
          ConfigKey.CLUSTER_CLIENT_URLS,
          '"' + url + '"',
          ConfigKey.CLUSTER_CLIENT_URLS.type().expectation());
    }
  }

  private static IllegalArgumentException wrong(ConfigKey key, Object value, String expected) {
    return new IllegalArgumentException(key.key() + ": " + value + " (expected: " + expected + ")");
  }

  /**
   * Returns whether the bus is a member of a cluster at all.
   *
   * @return false for a bus that serves alone and needs no directory
   */
  public boolean enabled() {
    return directory != null || !join.isEmpty() || discovery.enabled();
  }

  /**
   * Returns the directory that is used.
   *
   * @return {@link #directory()}, or the default
   */
  public Path dataDirectory() {
    return directory == null ? DEFAULT_DIRECTORY : directory;
  }

  /**
   * Returns the address that is bound.
   *
   * @return {@link #host()}, or the default that the security allows
   */
  public String bindHost() {
    if (host != null) {
      return host;
    }
    return security.enabled() ? ALL : LOOPBACK;
  }
}
