package io.eventbus.server.config;

import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whole configuration of one bus: immutable, and valid once it exists.
 *
 * @param bus who the bus is
 * @param listen where it listens for clients
 * @param tls TLS of the client port
 * @param limits how much it takes and keeps
 * @param addresses how much of that one client address may have
 * @param quotas what the clients of one identity, and of one account, may use, where nothing more
 *     special says it
 * @param timeouts its deadlines
 * @param compression compression of messages
 * @param auth who may connect
 * @param cluster how it takes part in a cluster
 * @param balance when and how clients are moved to other buses
 * @param federation how events go between the buses of a cluster
 * @param services how much clients may call and serve
 * @param durable where it stores events
 * @param sys what it publishes of itself
 * @param diagnostics what helps to examine it
 * @param admin its administration port
 * @param audit its audit log
 * @param log what it writes to standard error
 */
public record ServerConfig(
    BusConfig bus,
    ListenConfig listen,
    TlsConfig tls,
    LimitsConfig limits,
    AddressLimitsConfig addresses,
    ClientQuotas quotas,
    TimeoutsConfig timeouts,
    CompressionConfig compression,
    AuthConfig auth,
    ClusterConfig cluster,
    BalanceConfig balance,
    FederationConfig federation,
    ServicesConfig services,
    DurableConfig durable,
    SysConfig sys,
    DiagnosticsConfig diagnostics,
    AdminConfig admin,
    AuditConfig audit,
    LogConfig log) {
  private static final Logger LOG = LoggerFactory.getLogger(ServerConfig.class);

  /**
   * Checks the parts against each other.
   *
   * @param bus who the bus is
   * @param listen where it listens for clients
   * @param tls TLS of the client port
   * @param limits how much it takes and keeps
   * @param addresses how much of that one client address may have
   * @param quotas what the clients of one identity, and of one account, may use, where nothing more
   *     special says it
   * @param timeouts its deadlines
   * @param compression compression of messages
   * @param auth who may connect
   * @param cluster how it takes part in a cluster
   * @param balance when and how clients are moved to other buses
   * @param federation how events go between the buses of a cluster
   * @param services how much clients may call and serve
   * @param durable where it stores events
   * @param sys what it publishes of itself
   * @param diagnostics what helps to examine it
   * @param admin its administration port
   * @param audit its audit log
   * @param log what it writes to standard error
   * @throws IllegalArgumentException if two parts do not fit
   */
  public ServerConfig {
    if (listen.path().equals(diagnostics.echoPath())) {
      throw new IllegalArgumentException(
          "diagnostics.echo-path: \""
              + diagnostics.echoPath()
              + "\" (expected: another path than listen.path)");
    }
    if (admin.enabled()
        && admin.port() != 0
        && admin.port() == listen.port()
        && sameAddress(admin.host(), listen.host())) {
      throw new IllegalArgumentException(
          "admin.port: " + admin.port() + " (expected: another port than listen.port)");
    }
    admin.check(auth.usersFile() != null || auth.jwt().enabled());
    if (cluster.enabled()
        && cluster.security().certificate() != null
        && !cluster.security().hasSecret()
        && auth.resumeKeyFile() == null) {
      throw new IllegalArgumentException(
          "auth.resume-key-file: none (expected: a file, the same for all buses, because with"
              + " cluster.tls-certificate and no cluster.secret they share nothing else to sign"
              + " producer numbers with)");
    }
    if (cluster.enabled() && !durable.journals().isEmpty()) {
      throw new IllegalArgumentException(
          ConfigKey.DURABLE_JOURNALS.key()
              + ": \""
              + String.join(", ", durable.journals())
              + "\" (expected: none for a member of a cluster, whose buses have the same journals:"
              + " eventbus journal create)");
    }
    if (cluster.enabled() && cluster.port() != 0) {
      checkLinkPort(cluster, listen.port(), listen.host(), "listen.port");
      if (admin.enabled()) {
        checkLinkPort(cluster, admin.port(), admin.host(), "admin.port");
      }
    }
  }

  private static void checkLinkPort(ClusterConfig cluster, int port, String host, String other) {
    if (cluster.port() == port && sameAddress(cluster.bindHost(), host)) {
      throw new IllegalArgumentException(
          "cluster.port: " + port + " (expected: another port than " + other + ")");
    }
  }

  /**
   * Returns a copy with another name of the bus.
   *
   * @param named who the bus is
   * @return the copy
   */
  public ServerConfig withBus(BusConfig named) {
    return with(named, admin);
  }

  /**
   * Returns a copy with another port of the administration.
   *
   * @param port the one that is bound where 0 was configured
   * @return the copy
   * @throws IllegalArgumentException if another part of the configuration has that port
   */
  public ServerConfig withAdminPort(int port) {
    return with(bus, admin.withPort(port));
  }

  private ServerConfig with(BusConfig otherBus, AdminConfig otherAdmin) {
    return new ServerConfig(
        otherBus,
        listen,
        tls,
        limits,
        addresses,
        quotas,
        timeouts,
        compression,
        auth,
        cluster,
        balance,
        federation,
        services,
        durable,
        sys,
        diagnostics,
        otherAdmin,
        audit,
        log);
  }

  /**
   * Creates the configuration in which every key has its default.
   *
   * @return a configuration with a fresh random bus name
   */
  public static ServerConfig defaults() {
    return of(Map.of());
  }

  /**
   * Creates a configuration from some keys; the others have their defaults. File and environment
   * are not read. A former name of a key is logged as a warning.
   *
   * @param values texts by key, as in a file, for example {@code "listen.port", "0"}
   * @return the configuration
   * @throws ConfigException if a key is unknown or a value illegal; names all that is wrong
   */
  public static ServerConfig of(Map<String, String> values) {
    ConfigLoader loader = new ConfigLoader();
    values.forEach(loader::set);
    EffectiveConfig effective = loader.load();
    effective.warnings().forEach(LOG::warn);
    return effective.config();
  }

  /**
   * Returns whether clients can authenticate.
   *
   * @return false where all clients are anonymous
   */
  public boolean authenticates() {
    return auth.token().isSet()
        || auth.usersFile() != null
        || auth.jwt().enabled()
        || tls.clientAuth() != ClientAuth.NONE;
  }

  /**
   * Returns which clients are admitted without credentials.
   *
   * @return {@code auth.anonymous}, where that says so; else what follows from the other keys
   */
  public ClientScope anonymousClients() {
    return switch (auth.anonymous()) {
      case AUTO -> authenticates() ? ClientScope.NOBODY : ClientScope.LOOPBACK;
      case EVERYONE -> ClientScope.EVERYONE;
      case LOOPBACK -> ClientScope.LOOPBACK;
      case NOBODY -> ClientScope.NOBODY;
    };
  }

  private static boolean sameAddress(String one, String other) {
    return one.equals(other) || one.equals("0.0.0.0") || other.equals("0.0.0.0");
  }
}
