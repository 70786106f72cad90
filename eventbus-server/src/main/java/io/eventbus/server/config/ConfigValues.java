package io.eventbus.server.config;

import io.eventbus.server.config.ConfigLoader.Given;
import io.eventbus.server.config.EffectiveConfig.Setting;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Conversion of one text for each key into the records; collects all problems. */
final class ConfigValues {
  private final Map<ConfigKey, Given> texts;
  private final List<String> problems;
  private final Map<ConfigKey, String> printed = new EnumMap<>(ConfigKey.class);

  ConfigValues(Map<ConfigKey, Given> texts, List<String> problems) {
    this.texts = texts;
    this.problems = problems;
  }

  /** Creates the configuration, or returns null after adding to the problems. */
  @Nullable ServerConfig build() {
    for (ConfigKey key : texts.keySet()) {
      if (key.type().numeric()) {
        part(() -> number(key));
      }
    }
    BusConfig bus = part(this::bus);
    ListenConfig listen =
        part(
            () ->
                new ListenConfig(
                    text(ConfigKey.LISTEN_HOST),
                    integer(ConfigKey.LISTEN_PORT),
                    text(ConfigKey.LISTEN_PATH),
                    integer(ConfigKey.LISTEN_EVENT_LOOPS),
                    choice(ConfigKey.LISTEN_TRANSPORT, TransportType.class),
                    integer(ConfigKey.LISTEN_BACKLOG),
                    integer(ConfigKey.LISTEN_MAX_CONNECTIONS),
                    list(ConfigKey.LISTEN_ALLOWED_ORIGINS),
                    choice(ConfigKey.LISTEN_BROWSER_BLOCK, BrowserBlock.class),
                    list(ConfigKey.LISTEN_PROXIES)));
    TlsConfig tls =
        part(
            () ->
                new TlsConfig(
                    path(ConfigKey.TLS_CERTIFICATE),
                    path(ConfigKey.TLS_KEY),
                    path(ConfigKey.TLS_CLIENT_CA),
                    choice(ConfigKey.TLS_CLIENT_AUTH, ClientAuth.class)));
    LimitsConfig limits =
        part(
            () ->
                new LimitsConfig(
                    integer(ConfigKey.LIMITS_PAYLOAD_BYTES),
                    integer(ConfigKey.LIMITS_MESSAGE_BYTES),
                    integer(ConfigKey.LIMITS_HEADERS),
                    integer(ConfigKey.LIMITS_HEADER_BYTES),
                    integer(ConfigKey.LIMITS_SUBSCRIPTIONS),
                    number(ConfigKey.LIMITS_SUBSCRIPTION_BYTES),
                    integer(ConfigKey.LIMITS_GROUPS),
                    integer(ConfigKey.LIMITS_TOPIC_GROUPS),
                    integer(ConfigKey.LIMITS_WILDCARD_PATTERNS),
                    integer(ConfigKey.LIMITS_ACCOUNTS),
                    number(ConfigKey.LIMITS_QUEUE_BYTES),
                    number(ConfigKey.LIMITS_MEMORY_BYTES),
                    integer(ConfigKey.LIMITS_HELLO_BYTES)));
    AddressLimitsConfig addresses =
        part(
            () ->
                new AddressLimitsConfig(
                    integer(ConfigKey.LIMITS_ADDRESS_CONNECTIONS),
                    integer(ConfigKey.LIMITS_ADDRESS_HANDSHAKES),
                    integer(ConfigKey.LIMITS_ADDRESS_HANDSHAKE_RATE),
                    integer(ConfigKey.LIMITS_ADDRESS_MEMORY_PERCENT)));
    ClientQuotas quotas =
        part(() -> new ClientQuotas(quotas("quotas.", false), quotas("quotas.account-", true)));
    TimeoutsConfig timeouts =
        part(
            () ->
                new TimeoutsConfig(
                    duration(ConfigKey.TIMEOUTS_UPGRADE),
                    duration(ConfigKey.TIMEOUTS_HELLO),
                    duration(ConfigKey.TIMEOUTS_MESSAGE),
                    duration(ConfigKey.LIMITS_BLOCK_STALL_TIME),
                    duration(ConfigKey.TIMEOUTS_PING_INTERVAL),
                    duration(ConfigKey.TIMEOUTS_PONG),
                    duration(ConfigKey.TIMEOUTS_SLOW_SUBSCRIBER),
                    duration(ConfigKey.TIMEOUTS_CLOSE),
                    duration(ConfigKey.TIMEOUTS_SHUTDOWN)));
    CompressionConfig compression =
        part(
            () ->
                new CompressionConfig(
                    flag(ConfigKey.COMPRESSION_ENABLED),
                    integer(ConfigKey.COMPRESSION_LEVEL),
                    integer(ConfigKey.COMPRESSION_MIN_BYTES)));
    AuthConfig auth =
        part(
            () ->
                new AuthConfig(
                    AuthConfig.token(
                        optional(ConfigKey.AUTH_TOKEN), path(ConfigKey.AUTH_TOKEN_FILE)),
                    choice(ConfigKey.AUTH_ANONYMOUS, AnonymousScope.class),
                    path(ConfigKey.AUTH_USERS_FILE),
                    choice(ConfigKey.AUTH_CERTIFICATE_SUBJECT, CertificateSubject.class),
                    jwt(),
                    scope(ConfigKey.AUTH_OBSERVE),
                    scope(ConfigKey.AUTH_BLOCK),
                    path(ConfigKey.AUTH_RESUME_KEY_FILE),
                    path(ConfigKey.AUTH_ROLES_FILE)));
    ClusterConfig cluster = part(this::cluster);
    BalanceConfig balance = part(this::balance);
    FederationConfig federation =
        part(
            () ->
                new FederationConfig(
                    integer(ConfigKey.FEDERATION_FANOUT),
                    number(ConfigKey.FEDERATION_QUEUE_BYTES),
                    integer(ConfigKey.FEDERATION_MEMORY_PERCENT),
                    integer(ConfigKey.FEDERATION_FILTERS),
                    duration(ConfigKey.FEDERATION_SYNC_TIMEOUT),
                    duration(ConfigKey.FEDERATION_PEER_TIMEOUT),
                    duration(ConfigKey.FEDERATION_HEARTBEAT),
                    duration(ConfigKey.FEDERATION_KEEPALIVE_TIMEOUT)));
    ServicesConfig services =
        part(
            () ->
                new ServicesConfig(
                    integer(ConfigKey.LIMITS_CALLS),
                    integer(ConfigKey.LIMITS_SERVICES),
                    integer(ConfigKey.LIMITS_TUNNELS),
                    number(ConfigKey.LIMITS_TUNNEL_BUFFER_BYTES),
                    duration(ConfigKey.SERVICES_TIMEOUT),
                    duration(ConfigKey.SERVICES_MAX_WAIT),
                    integer(ConfigKey.SERVICES_RETRIES),
                    integer(ConfigKey.SERVICES_RETRY_PERCENT),
                    integer(ConfigKey.SERVICES_QUEUE_REQUESTS),
                    number(ConfigKey.SERVICES_QUEUE_BYTES),
                    integer(ConfigKey.SERVICES_MAX_GATHER_MEMBERS),
                    duration(ConfigKey.SERVICES_REJOIN)));
    DurableConfig durable =
        part(
            () ->
                new DurableConfig(
                    path(ConfigKey.DURABLE_DIRECTORY),
                    list(ConfigKey.DURABLE_JOURNALS),
                    duration(ConfigKey.DURABLE_REPLACE_AFTER)));
    SysConfig sys = part(() -> new SysConfig(duration(ConfigKey.SYS_INTERVAL)));
    DiagnosticsConfig diagnostics =
        part(
            () ->
                new DiagnosticsConfig(
                    optional(ConfigKey.DIAGNOSTICS_ECHO_PATH),
                    integer(ConfigKey.DIAGNOSTICS_ECHO_MESSAGE_BYTES)));
    AdminConfig admin =
        part(
            () ->
                new AdminConfig(
                    flag(ConfigKey.ADMIN_ENABLED),
                    text(ConfigKey.ADMIN_HOST),
                    integer(ConfigKey.ADMIN_PORT),
                    list(ConfigKey.ADMIN_ALLOWED_HOSTS),
                    new AdminAccessConfig(
                        choice(ConfigKey.ADMIN_AUTH, AdminAuth.class),
                        AdminAccessConfig.token(
                            optional(ConfigKey.ADMIN_TOKEN), path(ConfigKey.ADMIN_TOKEN_FILE)),
                        optional(ConfigKey.ADMIN_ACCOUNT),
                        flag(ConfigKey.ADMIN_METRICS_OPEN),
                        path(ConfigKey.ADMIN_TLS_CERTIFICATE),
                        path(ConfigKey.ADMIN_TLS_KEY),
                        flag(ConfigKey.ADMIN_PLAINTEXT))));
    AuditConfig audit =
        part(
            () ->
                new AuditConfig(
                    path(ConfigKey.AUDIT_FILE),
                    number(ConfigKey.AUDIT_MAX_BYTES),
                    integer(ConfigKey.AUDIT_FILES)));
    LogConfig log =
        part(
            () ->
                new LogConfig(
                    choice(ConfigKey.LOG_LEVEL, LogConfig.Level.class),
                    choice(ConfigKey.LOG_FORMAT, LogConfig.Format.class)));
    if (bus == null
        || listen == null
        || tls == null
        || limits == null
        || addresses == null
        || quotas == null
        || timeouts == null
        || compression == null
        || auth == null
        || cluster == null
        || balance == null
        || federation == null
        || services == null
        || durable == null
        || sys == null
        || diagnostics == null
        || admin == null
        || audit == null
        || log == null) {
      return null;
    }
    return part(
        () ->
            new ServerConfig(
                bus,
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
                admin,
                audit,
                log));
  }

  private JwtConfig jwt() {
    return new JwtConfig(
        optional(ConfigKey.AUTH_JWT_ISSUER),
        optional(ConfigKey.AUTH_JWT_AUDIENCE),
        new JwtConfig.ClaimPaths(
            optional(ConfigKey.AUTH_JWT_ROLES_CLAIM), optional(ConfigKey.AUTH_JWT_ACCOUNT_CLAIM)),
        list(ConfigKey.AUTH_JWT_ALGORITHMS),
        path(ConfigKey.AUTH_JWT_SECRET_FILE),
        path(ConfigKey.AUTH_JWT_PUBLIC_KEYS),
        uri(ConfigKey.AUTH_JWT_JWKS_URL));
  }

  private Quotas quotas(String prefix, boolean ofAccount) {
    Map<Quota, Long> limits = new EnumMap<>(Quota.class);
    Quota.all(ofAccount)
        .forEach(
            quota -> limits.put(quota, number(ConfigKey.find(prefix + quota.key()).orElseThrow())));
    return new Quotas(limits);
  }

  private ClusterConfig cluster() {
    String advertised = optional(ConfigKey.CLUSTER_ADVERTISED);
    return new ClusterConfig(
        text(ConfigKey.CLUSTER_ID),
        clusterDirectory(),
        list(ConfigKey.CLUSTER_JOIN).stream()
            .map(text -> HostPort.read(ConfigKey.CLUSTER_JOIN, text, true))
            .toList(),
        integer(ConfigKey.CLUSTER_FOUNDERS),
        new DiscoveryConfig(
            flag(ConfigKey.CLUSTER_DISCOVER),
            text(ConfigKey.CLUSTER_DISCOVERY_GROUP),
            integer(ConfigKey.CLUSTER_DISCOVERY_PORT),
            optional(ConfigKey.CLUSTER_DISCOVERY_INTERFACE)),
        optional(ConfigKey.CLUSTER_HOST),
        integer(ConfigKey.CLUSTER_PORT),
        advertised == null ? null : HostPort.read(ConfigKey.CLUSTER_ADVERTISED, advertised, false),
        list(ConfigKey.CLUSTER_CLIENT_URLS),
        integer(ConfigKey.CLUSTER_VOTERS),
        text(ConfigKey.CLUSTER_ZONE),
        duration(ConfigKey.CLUSTER_LEASE),
        duration(ConfigKey.CLUSTER_REPLACE_VOTER_AFTER),
        duration(ConfigKey.CLUSTER_LEAVE),
        new ClusterSecurityConfig(
            optional(ConfigKey.CLUSTER_SECRET),
            path(ConfigKey.CLUSTER_SECRET_FILE),
            path(ConfigKey.CLUSTER_TLS_CERTIFICATE),
            path(ConfigKey.CLUSTER_TLS_KEY),
            path(ConfigKey.CLUSTER_TLS_CA)));
  }

  /** Returns the directory of the registry, which is in that of durable topics if there is one. */
  private @Nullable Path clusterDirectory() {
    Path directory = path(ConfigKey.CLUSTER_DIRECTORY);
    Path data = path(ConfigKey.DURABLE_DIRECTORY);
    boolean others = !list(ConfigKey.CLUSTER_JOIN).isEmpty() || flag(ConfigKey.CLUSTER_DISCOVER);
    return directory == null && data != null && others ? data.resolve("registry") : directory;
  }

  private BalanceConfig balance() {
    return new BalanceConfig(
        flag(ConfigKey.BALANCE_ENABLED),
        integer(ConfigKey.BALANCE_HIGH_PERCENT),
        integer(ConfigKey.BALANCE_LOW_PERCENT),
        duration(ConfigKey.BALANCE_OVERLOAD_AFTER),
        number(ConfigKey.BALANCE_CAPACITY_EVENTS),
        number(ConfigKey.BALANCE_CAPACITY_BYTES),
        integer(ConfigKey.BALANCE_MOVES_PER_SECOND),
        duration(ConfigKey.BALANCE_COOL_DOWN),
        integer(ConfigKey.BALANCE_MAX_MOVES_PER_MINUTE),
        duration(ConfigKey.BALANCE_DEADLINE),
        duration(ConfigKey.BALANCE_DRAIN_TIMEOUT));
  }

  List<Setting> settings() {
    List<Setting> settings = new ArrayList<>();
    texts.forEach(
        (key, given) ->
            settings.add(new Setting(key, printed.getOrDefault(key, ""), given.origin())));
    return settings;
  }

  /** Returns a part of the configuration, or null when it is wrong. */
  private <T> @Nullable T part(Supplier<T> maker) {
    try {
      return maker.get();
    } catch (IllegalArgumentException e) {
      String problem = withOrigin(String.valueOf(e.getMessage()));
      // A part that holds a wrong number says so again.
      if (!problems.contains(problem)) {
        problems.add(problem);
      }
      return null;
    }
  }

  private String withOrigin(String message) {
    int colon = message.indexOf(':');
    return ConfigKey.find(message.substring(0, Math.max(colon, 0)))
        .map(key -> message + ", from " + given(key).origin())
        .orElse(message);
  }

  private Given given(ConfigKey key) {
    Given found = texts.get(key);
    if (found == null) {
      throw new IllegalStateException("no value for " + key.key());
    }
    return found;
  }

  private BusConfig bus() {
    String name = text(ConfigKey.BUS_NAME);
    if (!name.isEmpty()) {
      return new BusConfig(name, false);
    }
    byte[] random = new byte[4];
    new SecureRandom().nextBytes(random);
    name = "bus-" + HexFormat.of().formatHex(random);
    printed.put(ConfigKey.BUS_NAME, name);
    return new BusConfig(name, true);
  }

  private String text(ConfigKey key) {
    String text = given(key).text().strip();
    boolean hidden = key.type() == ValueType.SECRET && !text.isEmpty();
    printed.put(key, hidden ? "***" : text);
    return text;
  }

  private @Nullable String optional(ConfigKey key) {
    String text = text(key);
    return text.isEmpty() ? null : text;
  }

  private List<String> list(ConfigKey key) {
    String text = text(key);
    return text.isEmpty()
        ? List.of()
        : Arrays.stream(text.split(",", -1)).map(String::strip).toList();
  }

  private @Nullable Path path(ConfigKey key) {
    String text = text(key);
    try {
      return text.isEmpty() ? null : Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          key.key() + ": \"" + text + "\" (expected: " + key.type().expectation() + ")", e);
    }
  }

  private @Nullable URI uri(ConfigKey key) {
    String text = text(key);
    try {
      return text.isEmpty() ? null : new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          key.key() + ": \"" + text + "\" (expected: " + key.type().expectation() + ")", e);
    }
  }

  private boolean flag(ConfigKey key) {
    String text = text(key);
    if (!text.equals("true") && !text.equals("false")) {
      throw new IllegalArgumentException(
          key.key() + ": \"" + text + "\" (expected: " + key.type().expectation() + ")");
    }
    return text.equals("true");
  }

  private long number(ConfigKey key) {
    long value = key.number(given(key).text());
    printed.put(key, key.type().print(value));
    return value;
  }

  /** Returns a number; the ranges of these keys end within an int, as a test checks. */
  private int integer(ConfigKey key) {
    return Math.toIntExact(number(key));
  }

  private Duration duration(ConfigKey key) {
    return Duration.ofMillis(number(key));
  }

  /**
   * Returns a scope, which may not be given together with a roles file, or one of them would be
   * ignored.
   */
  private ClientScope scope(ConfigKey key) {
    boolean isGiven = !given(key).origin().equals(ConfigLoader.DEFAULT);
    if (isGiven && !given(ConfigKey.AUTH_ROLES_FILE).text().isBlank()) {
      throw new IllegalArgumentException(
          key.key()
              + ": \""
              + text(key)
              + "\" is given together with "
              + ConfigKey.AUTH_ROLES_FILE.key()
              + " (expected: one of them; in the file, \"allow "
              + (key == ConfigKey.AUTH_OBSERVE ? "observe $SYS.>" : "block >")
              + "\" for a role or for [everyone])");
    }
    return choice(key, ClientScope.class);
  }

  private <E extends Enum<E>> E choice(ConfigKey key, Class<E> type) {
    String text = text(key);
    for (E constant : type.getEnumConstants()) {
      if (constant.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(text)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(
        key.key() + ": \"" + text + "\" (expected: " + key.type().expectation() + ")");
  }
}
