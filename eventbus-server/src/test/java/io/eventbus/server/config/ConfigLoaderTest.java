package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigLoaderTest {
  private final Path directory;

  ConfigLoaderTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void defaultsAreValid() {
    ServerConfig config = ServerConfig.defaults();
    assertThat(config.bus().name()).matches("bus-[0-9a-f]{8}");
    assertThat(config.listen())
        .isEqualTo(
            new ListenConfig(
                "0.0.0.0",
                8080,
                "/bus",
                0,
                TransportType.AUTO,
                4096,
                100_000,
                List.of(),
                BrowserBlock.REFUSE,
                List.of()));
    assertThat(config.quotas().areNone()).isTrue();
    assertThat(config.tls()).isEqualTo(new TlsConfig(null, null, null, ClientAuth.NONE));
    assertThat(config.tls().enabled()).isFalse();
    assertThat(config.limits())
        .isEqualTo(
            new LimitsConfig(
                1 << 20, 4 << 20, 64, 16 << 10, 10_000, 0, 32, 1024, 1024, 1000, 8L << 20, 0,
                64 << 10));
    assertThat(config.addresses()).isEqualTo(new AddressLimitsConfig(4000, 1000, 200, 25));
    assertThat(config.timeouts())
        .isEqualTo(
            new TimeoutsConfig(
                Duration.ofSeconds(5),
                Duration.ofSeconds(5),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                Duration.ofSeconds(25),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2),
                Duration.ofSeconds(10)));
    assertThat(config.compression()).isEqualTo(new CompressionConfig(false, 1, 256));
    assertThat(config.auth())
        .isEqualTo(
            new AuthConfig(
                AuthConfig.token(null, null),
                AnonymousScope.AUTO,
                null,
                CertificateSubject.URI_SAN,
                new JwtConfig(
                    null,
                    null,
                    JwtConfig.ClaimPaths.NONE,
                    List.of("EdDSA", "ES256", "HS256", "PS256", "RS256"),
                    null,
                    null,
                    null),
                ClientScope.LOOPBACK,
                ClientScope.LOOPBACK,
                null,
                null));
    assertThat(config.cluster().enabled()).isFalse();
    assertThat(config.cluster().port()).isEqualTo(8082);
    assertThat(config.cluster().bindHost()).isEqualTo("127.0.0.1");
    assertThat(config.cluster().lease()).isEqualTo(Duration.ofSeconds(10));
    assertThat(config.diagnostics()).isEqualTo(new DiagnosticsConfig(null, 16 << 20));
    assertThat(config.admin())
        .isEqualTo(new AdminConfig(true, "127.0.0.1", 8081, List.of(), AdminAccessConfig.open()));
    assertThat(config.log()).isEqualTo(new LogConfig(LogConfig.Level.INFO, LogConfig.Format.TEXT));
  }

  @Test
  void everyBusHasItsOwnName() {
    assertThat(ServerConfig.defaults().bus()).isNotEqualTo(ServerConfig.defaults().bus());
  }

  @Test
  void flagWinsOverEnvironmentOverFileOverDefault() throws Exception {
    Path file = file("listen.port=1\nlisten.backlog=1\nlimits.headers=1\n");
    EffectiveConfig loaded =
        new ConfigLoader()
            .set("listen.port", "3")
            .environment(Map.of("EVENTBUS_LISTEN_PORT", "2", "EVENTBUS_LISTEN_BACKLOG", "2"))
            .file(file)
            .flag(ConfigKey.ADMIN_PORT, "4")
            .load();
    ServerConfig config = loaded.config();
    assertThat(config.listen().port()).isEqualTo(3);
    assertThat(config.listen().backlog()).isEqualTo(2);
    assertThat(config.limits().headers()).isEqualTo(1);
    assertThat(config.admin().port()).isEqualTo(4);
    assertThat(origin(loaded, ConfigKey.LISTEN_PORT)).isEqualTo("flag --set");
    assertThat(origin(loaded, ConfigKey.LISTEN_BACKLOG))
        .isEqualTo("variable EVENTBUS_LISTEN_BACKLOG");
    assertThat(origin(loaded, ConfigKey.LIMITS_HEADERS)).isEqualTo("file " + file);
    assertThat(origin(loaded, ConfigKey.ADMIN_PORT)).isEqualTo("flag --admin-port");
    assertThat(origin(loaded, ConfigKey.LISTEN_HOST)).isEqualTo("default");
  }

  @Test
  void printedSettingsCanBeReadAgain() throws Exception {
    EffectiveConfig first =
        new ConfigLoader()
            .set("timeouts.pong", "PT1M30S")
            .set("limits.memory-bytes", "1 gib")
            .set("tls.key", "/keys/key.pem")
            .set("tls.certificate", "/keys/chain.pem")
            .load();
    StringBuilder text = new StringBuilder();
    first.settings().forEach(s -> text.append(s.key().key() + "=" + s.value() + "\n"));
    assertThat(text).contains("timeouts.pong=90s", "limits.memory-bytes=1GiB");
    assertThat(new ConfigLoader().file(file(text.toString())).load().config())
        .isEqualTo(first.config().withBus(new BusConfig(first.config().bus().name(), false)));
    assertThat(first.settings()).hasSize(ConfigKey.values().length);
  }

  @Test
  void relativePathsOfAFileBeginWhereItIs() throws Exception {
    Path inner = Files.createDirectory(directory.resolve("etc"));
    Path file =
        Files.writeString(
            inner.resolve("bus.properties"),
            """
            auth.resume-key-file = ../keys/resume
            cluster.directory = /var/lib/eventbus
            cluster.secret-file = secret
            listen.path = /path
            """);
    ServerConfig config =
        new ConfigLoader()
            .file(file)
            .environment(Map.of("EVENTBUS_TLS_CERTIFICATE", "chain.pem"))
            .set("tls.key", "key.pem")
            .load()
            .config();
    assertThat(config.auth().resumeKeyFile()).isEqualTo(inner.resolve("../keys/resume"));
    assertThat(config.cluster().security().secretFile()).isEqualTo(inner.resolve("secret"));
    assertThat(config.cluster().dataDirectory()).isEqualTo(Path.of("/var/lib/eventbus"));
    assertThat(config.listen().path()).isEqualTo("/path");
    assertThat(config.tls().certificate()).isEqualTo(Path.of("chain.pem"));
    assertThat(config.tls().key()).isEqualTo(Path.of("key.pem"));
  }

  @Test
  void secretsAreNotPrinted() {
    EffectiveConfig loaded = new ConfigLoader().set("auth.token", "open-sesame").load();
    assertThat(loaded.config().auth().token().read()).contains("open-sesame");
    assertThat(loaded.toString()).doesNotContain("sesame").contains("***");
    assertThatThrownBy(() -> ServerConfig.of(Map.of("auth.token", "open sesame")))
        .hasMessageStartingWith("auth.token: *** (expected: ")
        .hasMessageNotContaining("sesame");
  }

  @Test
  void unknownNamesAreRefusedWithTheNearest() throws Exception {
    ConfigLoader loader =
        new ConfigLoader()
            .file(file("limits.payload-byte=1\n"))
            .set("port", "1")
            .environment(Map.of("EVENTBUS_LISTEN_PROT", "1"));
    assertThatThrownBy(loader::load)
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .anyMatch(
                        p ->
                            p.startsWith("limits.payload-byte: unknown key")
                                && p.contains("nearest is limits.payload-bytes"))
                    .anyMatch(p -> p.startsWith("port: unknown key"))
                    .anyMatch(p -> p.contains("the nearest is EVENTBUS_LISTEN_PORT"))
                    .hasSize(3));
  }

  @Test
  void variablesOfOthersAreLeftAlone() {
    Map<String, String> environment =
        new TreeMap<>(
            Map.of(
                "PATH", "/bin",
                "EVENTBUS_JAVA_OPTS", "-Xmx1g",
                "EVENTBUS_PORT", "tcp://10.0.0.1:8080",
                "EVENTBUS_PORT_8080_TCP_ADDR", "10.0.0.1",
                "EVENTBUS_SERVICE_HOST", "10.0.0.1"));
    assertThat(new ConfigLoader().environment(environment).load().settings())
        .allMatch(s -> s.origin().equals("default"));
  }

  @Test
  void allThatIsWrongIsToldAtOnce() {
    Map<String, String> values =
        Map.of(
            "listen.port", "70000",
            "listen.backlog", "many",
            "timeouts.pong", "5",
            "log.level", "loud",
            "tls.key", "key.pem");
    assertThatThrownBy(() -> ServerConfig.of(values))
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .contains(
                        "listen.port: 70000 (expected: 0 to 65535), from flag --set",
                        "log.level: \"loud\" (expected: error, warn, info, debug or trace), from"
                            + " flag --set")
                    .anyMatch(p -> p.startsWith("listen.backlog: \"many\" (expected: a whole"))
                    .anyMatch(p -> p.startsWith("timeouts.pong: \"5\" (expected: a time span"))
                    .anyMatch(p -> p.startsWith("tls.certificate: none (expected: a file"))
                    .hasSize(5));
  }

  @Test
  void aRolesFileAndTheKeysThatItReplacesAreNotGivenTogether() {
    ConfigLoader both =
        new ConfigLoader()
            .set("auth.roles-file", "roles.conf")
            .environment(Map.of("EVENTBUS_AUTH_OBSERVE", "loopback"))
            .flag(ConfigKey.AUTH_BLOCK, "nobody");
    assertThatThrownBy(both::load)
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll(
            "auth.observe: \"loopback\" is given together with auth.roles-file (expected: one of",
            "variable EVENTBUS_AUTH_OBSERVE");
    assertThat(new ConfigLoader().set("auth.roles-file", "roles.conf").load().config().auth())
        .extracting(AuthConfig::rolesFile)
        .isEqualTo(Path.of("roles.conf"));
    assertThat(new ConfigLoader().set("auth.observe", "nobody").load().config().auth().observe())
        .isEqualTo(ClientScope.NOBODY);
  }

  @Test
  void formerNamesAreAcceptedWithAWarning() throws Exception {
    Path file = file("federation.give-up=4s\n");
    EffectiveConfig loaded =
        new ConfigLoader()
            .file(file)
            .environment(Map.of("EVENTBUS_BALANCE_HOPS", "3"))
            .set("limits.bulk-bytes", "16MiB")
            .load();
    assertThat(loaded.config().federation().peerTimeout()).isEqualTo(Duration.ofSeconds(4));
    assertThat(loaded.config().balance().maxMovesPerMinute()).isEqualTo(3);
    assertThat(loaded.config().services().tunnelBufferBytes()).isEqualTo(16 << 20);
    assertThat(loaded.warnings())
        .containsExactly(
            "federation.give-up, from file "
                + file
                + ": renamed; use federation.peer-timeout, because version 0.2.0 will refuse the"
                + " former name",
            "variable EVENTBUS_BALANCE_HOPS: renamed; use EVENTBUS_BALANCE_MAX_MOVES_PER_MINUTE,"
                + " because version 0.2.0 will refuse the former name",
            "limits.bulk-bytes, from flag --set: renamed; use limits.tunnel-buffer-bytes, because"
                + " version 0.2.0 will refuse the former name");
    assertThat(origin(loaded, ConfigKey.FEDERATION_PEER_TIMEOUT)).isEqualTo("file " + file);
  }

  @Test
  void everyFormerNameLeadsToAKeyOfTheSameMeaning() {
    FormerKeys.BY_NAME.forEach(
        (name, key) -> {
          EffectiveConfig loaded = new ConfigLoader().set(name, key.defaultText()).load();
          assertThat(origin(loaded, key)).isEqualTo("flag --set");
          assertThat(loaded.warnings()).singleElement().asString().contains(name, key.key());
          assertThat(ConfigKey.find(name)).isEmpty();
        });
  }

  @Test
  void bothNamesOfAKeyAreRefusedWhereverTheyStand() throws Exception {
    ConfigLoader both =
        new ConfigLoader()
            .file(file("balance.drain=1s\nbalance.drain-timeout=1s\nservices.gather=1\n"))
            .environment(Map.of("EVENTBUS_SERVICES_MAX_GATHER_MEMBERS", "1"))
            .set("federation.sync-timeout", "1s")
            .set("federation.confirm", "1s");
    assertThatThrownBy(both::load)
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .anyMatch(
                        p ->
                            p.startsWith("both balance.drain-timeout, from file ")
                                && p.contains(", and its former name balance.drain, from file "))
                    .contains(
                        "both federation.sync-timeout, from flag --set, and its former name"
                            + " federation.confirm, from flag --set, are given (expected: only the"
                            + " first)")
                    .anyMatch(
                        p ->
                            p.startsWith("both variable EVENTBUS_SERVICES_MAX_GATHER_MEMBERS, and")
                                && p.contains("services.gather, from file "))
                    .hasSize(3));
  }

  @Test
  void fileProblemsNameTheFile() throws Exception {
    Path missing = directory.resolve("missing.properties");
    assertThatThrownBy(() -> new ConfigLoader().file(missing).load())
        .hasMessageContaining("missing.properties: not found");
    Path twice = file("listen.port=1\nlisten.port=2\n");
    assertThatThrownBy(() -> new ConfigLoader().file(twice).load())
        .hasMessageContaining("listen.port: given twice");
    Path escape = file("listen.path=\\u00zz\n");
    assertThatThrownBy(() -> new ConfigLoader().file(escape).load())
        .hasMessageContaining("cannot be read");
  }

  private Path file(String content) throws Exception {
    return Files.writeString(Files.createTempFile(directory, "bus", ".properties"), content);
  }

  private static String origin(EffectiveConfig loaded, ConfigKey key) {
    return loaded.setting(key).origin();
  }
}
