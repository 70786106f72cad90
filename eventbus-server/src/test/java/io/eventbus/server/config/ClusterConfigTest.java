package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterConfigTest {
  private static final String SECRET = "0123456789abcdef";

  private static ClusterConfig of(String... settings) {
    Map<String, String> values = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values).cluster();
  }

  @ParameterizedTest
  @CsvSource({
    "cluster.id, a b",
    "cluster.id, ''",
    "cluster.id, -a",
    "cluster.zone, a/b",
    "cluster.voters, 2",
    "cluster.voters, 9",
    "cluster.join, localhost",
    "cluster.join, localhost:0",
    "cluster.join, localhost:65536",
    "cluster.join, 'localhost:1,'",
    "cluster.join, ::1:80",
    "cluster.join, [::1]",
    "cluster.join, ws://localhost:80",
    "cluster.advertised, 'localhost:1,localhost:2'",
    "cluster.host, a b",
    "cluster.client-urls, http://localhost/bus",
    "cluster.client-urls, ws:///bus",
    "cluster.client-urls, ws://me@localhost/bus",
    "cluster.discovery-group, example.com",
    "cluster.discovery-port, 0",
    "cluster.discovery-interface, a b",
    "cluster.discover, yes",
    "cluster.secret, 'with a space in between'",
    "cluster.secret, short",
    "cluster.lease, 100ms"
  })
  void illegalValuesAreRefused(String key, String value) {
    assertThatThrownBy(() -> of(key, value))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(key + ": ")
        .hasMessageContaining("(expected: ")
        .hasMessageEndingWith(", from flag --set");
  }

  @Test
  void withoutConfigurationThereIsNoCluster() {
    assertThat(of().enabled()).isFalse();
    assertThat(of("cluster.secret", SECRET, "cluster.port", "1").enabled()).isFalse();
    assertThat(of("cluster.directory", "/d").enabled()).isTrue();
    assertThat(of("cluster.directory", "/d").dataDirectory()).isEqualTo(Path.of("/d"));
    assertThat(of("cluster.discover", "true").enabled()).isTrue();
    assertThat(of("cluster.join", "localhost:1").enabled()).isTrue();
    assertThat(of("cluster.join", "localhost:1").dataDirectory())
        .isEqualTo(Path.of("eventbus-data"));
    assertThat(of("cluster.join", "localhost:1", "durable.directory", "/d").dataDirectory())
        .isEqualTo(Path.of("/d/registry"));
    assertThat(of("durable.directory", "/d").enabled()).isFalse();
  }

  @Test
  void aMemberHasNoConfiguredJournals() {
    assertThatThrownBy(
            () ->
                of(
                    "cluster.join",
                    "localhost:1",
                    "durable.directory",
                    "/d",
                    "durable.journals",
                    "orders orders.>"))
        .hasMessageContaining(
            "durable.journals: \"orders orders.>\" (expected: none for a member of a cluster");
  }

  @Test
  void addressesAreRead() {
    ClusterConfig config =
        of(
            "cluster.secret",
            SECRET,
            "cluster.join",
            "bus-1:8082, 192.0.2.1:1,[2001:db8::1]:65535",
            "cluster.advertised",
            "[::1]");
    assertThat(config.join())
        .containsExactly(
            new HostPort("bus-1", 8082),
            new HostPort("192.0.2.1", 1),
            new HostPort("2001:db8::1", 65_535));
    assertThat(config.join().get(2)).hasToString("[2001:db8::1]:65535");
    assertThat(config.advertised()).isEqualTo(new HostPort("::1", 0)).hasToString("[::1]");
  }

  @Test
  void withoutASecretTheClusterStaysOnThisMachine() {
    assertThat(of().bindHost()).isEqualTo("127.0.0.1");
    assertThat(of("cluster.join", "localhost:1,[::1]:2,127.1.2.3:4").bindHost())
        .isEqualTo("127.0.0.1");
    assertThat(of("cluster.secret", SECRET).bindHost()).isEqualTo("0.0.0.0");
    assertThat(of("cluster.secret-file", "/secret").bindHost()).isEqualTo("0.0.0.0");
  }

  @ParameterizedTest
  @CsvSource({
    "cluster.host, 0.0.0.0",
    "cluster.host, ::",
    "cluster.join, 'localhost:1,bus-2:1'",
    "cluster.join, 127.0.0.1.example.com:1",
    "cluster.advertised, 192.0.2.1"
  })
  void aClusterThatStrangersReachNeedsASecret(String key, String value) {
    assertThatThrownBy(() -> of(key, value))
        .hasMessageStartingWith(key + ": ")
        .hasMessageContaining("anybody could become a member");
    assertThat(of(key, value, "cluster.secret", SECRET)).isNotNull();
    assertThat(
            of(
                key,
                value,
                "cluster.tls-certificate",
                "c",
                "cluster.tls-key",
                "k",
                "cluster.tls-ca",
                "a",
                "auth.resume-key-file",
                "r"))
        .isNotNull();
  }

  @Test
  void tlsWithoutASecretNeedsAKeyForResumes() {
    String[] tls = {
      "cluster.join", "bus-2:8082",
      "cluster.tls-certificate", "c",
      "cluster.tls-key", "k",
      "cluster.tls-ca", "a",
      "", ""
    };
    tls[8] = "bus.name";
    tls[9] = "bus-1";
    assertThatThrownBy(() -> of(tls))
        .hasMessageContaining("auth.resume-key-file: none (expected: a file, the same for all");
    tls[8] = "auth.resume-key-file";
    tls[9] = "r";
    assertThat(of(tls)).isNotNull();
    tls[8] = "cluster.secret";
    tls[9] = SECRET;
    assertThat(of(tls)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cluster.tls-certificate", "cluster.tls-key", "cluster.tls-ca"})
  void tlsTakesAllFiles(String key) {
    assertThatThrownBy(() -> of(key, "file"))
        .hasMessageContaining("none (expected: a file, as all of cluster.tls-certificate");
  }

  @Test
  void theSecretIsGivenOnceAndNeverPrinted() {
    assertThatThrownBy(() -> of("cluster.secret", SECRET, "cluster.secret-file", "f"))
        .hasMessageStartingWith("cluster.secret-file: \"f\" (expected: none");
    assertThat(of("cluster.secret", SECRET).toString()).contains("***").doesNotContain(SECRET);
    assertThat(ClusterSecurityConfig.checkFile(" " + SECRET + "\n")).isEqualTo(SECRET);
    assertThatThrownBy(() -> ClusterSecurityConfig.checkFile("geheim\n"))
        .hasMessageStartingWith("cluster.secret-file: 6 bytes (expected: >= 16)");
    assertThatThrownBy(() -> ClusterSecurityConfig.checkFile("geheim \u0001" + SECRET))
        .hasMessageNotContaining("geheim");
  }

  @Test
  void portsAreDifferent() {
    assertThatThrownBy(() -> of("cluster.directory", "d", "cluster.port", "8081"))
        .hasMessageStartingWith("cluster.port: 8081 (expected: another port than admin.port)");
    assertThatThrownBy(() -> of("cluster.directory", "d", "cluster.port", "8080"))
        .hasMessageStartingWith("cluster.port: 8080 (expected: another port than listen.port)");
  }
}
