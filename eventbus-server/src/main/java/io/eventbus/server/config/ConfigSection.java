package io.eventbus.server.config;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Group of configuration keys with one subject, in the order in which people read about them: those
 * that begin alike.
 */
public enum ConfigSection {
  /** Name of the bus, and the port for clients. */
  CLIENT_PORT(
      "Name and client port",
      "How a bus is called, where clients connect, and from which pages and proxies.",
      "bus.",
      "listen."),
  /** Encryption of clients' connections. */
  TLS(
      "TLS for clients",
      "A bus with a certificate speaks TLS on the client port. It notices new files while it runs.",
      "tls."),
  /** Identity and permissions of clients. */
  AUTH(
      "Login and permissions",
      "Who may connect, and what clients may do ([security](security.md)).",
      "auth."),
  /** Bounds of connections and of the bus. */
  LIMITS("Limits", "Bounds of events, of connections, and of the memory of the bus.", "limits."),
  /** Bounds of addresses. */
  ADDRESS_LIMITS(
      "Limits per address",
      "Bounds of all connections that come from one client address.",
      "limits.address-"),
  /** Bounds of identities and accounts. */
  QUOTAS(
      "Quotas",
      "Bounds of an identity (account and name; clients without a name count as one) or of an"
          + " account, on this bus. Roles, tokens and the roles file may set others"
          + " ([quotas](security.md#quotas)).",
      "quotas."),
  /** Deadlines. */
  TIMEOUTS("Timeouts", "How long the bus waits for clients.", "timeouts."),
  /** Compression of messages. */
  COMPRESSION("Compression", "Compression of WebSocket messages.", "compression."),
  /** Calls of services. */
  SERVICES(
      "Services",
      "How long calls wait, and how often they are repeated ([memory](#memory-of-services)).",
      "services."),
  /** Storing of events. */
  DURABLE(
      "Durable topics",
      "Where the bus stores the events of journals ([durable topics](durable.md)).",
      "durable."),
  /** Membership of a cluster. */
  CLUSTER(
      "Cluster",
      "How buses find, reach and trust each other ([runbook](runbook.md#a-cluster-of-three)).",
      "cluster."),
  /** Moves of clients. */
  BALANCE("Moving clients", "When a bus moves clients to other buses, and how fast.", "balance."),
  /** Links between buses. */
  FEDERATION(
      "Links between buses",
      "How events go from bus to bus ([clusters](clusters.md)).",
      "federation."),
  /** Administration port. */
  ADMIN(
      "Administration port",
      "Health, metrics and API ([monitoring](monitoring.md#administration-api)).",
      "admin."),
  /** Audit log. */
  AUDIT("Audit", "The file of the [audit log](monitoring.md#audit-log).", "audit."),
  /** Log. */
  LOG("Log", "What the bus writes to standard error ([log](monitoring.md#log)).", "log."),
  /** System topics and diagnostics. */
  SYSTEM(
      "System topics and diagnostics",
      "Figures on `$SYS` topics, and an endpoint for conformance suites.",
      "sys.",
      "diagnostics.");

  private final String title;
  private final String summary;

  // The list is unmodifiable.
  @SuppressWarnings("ImmutableEnumChecker")
  private final List<String> prefixes;

  ConfigSection(String title, String summary, String... prefixes) {
    this.title = title;
    this.summary = summary;
    this.prefixes = List.of(prefixes);
  }

  /**
   * Returns the heading.
   *
   * @return for example "Name and client port"
   */
  public String title() {
    return title;
  }

  /**
   * Returns what the keys are about.
   *
   * @return a sentence or two, in Markdown
   */
  public String summary() {
    return summary;
  }

  /**
   * Returns the keys.
   *
   * @return those whose longest matching beginning is one of this section
   */
  public List<ConfigKey> keys() {
    return Arrays.stream(ConfigKey.values())
        .filter(key -> of(key).equals(Optional.of(this)))
        .toList();
  }

  private static Optional<ConfigSection> of(ConfigKey key) {
    return Arrays.stream(values())
        .filter(section -> section.matching(key) > 0)
        .max(Comparator.comparingInt(section -> section.matching(key)));
  }

  private int matching(ConfigKey key) {
    return prefixes.stream().filter(key.key()::startsWith).mapToInt(String::length).max().orElse(0);
  }
}
