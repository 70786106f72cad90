package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerConfigTest {
  @ParameterizedTest
  @CsvSource({
    "bus.name, a b",
    "bus.name, ../etc",
    "listen.path, bus",
    "listen.path, ''",
    "listen.path, /bus?x",
    "listen.path, //bus",
    "listen.path, /bus/",
    "listen.host, ''",
    "listen.host, a b",
    "listen.transport, kqueue",
    "compression.enabled, yes",
    "compression.level, 0",
    "compression.level, 10",
    "diagnostics.echo-path, echo",
    "diagnostics.echo-message-bytes, 2GiB",
    "log.format, xml"
  })
  void illegalValuesAreRefused(String key, String value) {
    assertThatThrownBy(() -> ServerConfig.of(Map.of(key, value)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(key + ": ")
        .hasMessageContaining("(expected: ");
  }

  @Test
  void aMessageHoldsTheLargestEvent() {
    assertThatThrownBy(() -> ServerConfig.of(Map.of("limits.payload-bytes", "4MiB")))
        .hasMessageStartingWith("limits.message-bytes: 4MiB (expected: >= 4128KiB, ");
    assertThat(
            ServerConfig.of(
                    Map.of(
                        "limits.payload-bytes", "4MiB",
                        "limits.message-bytes", "4128KiB",
                        "limits.queue-bytes", "16MiB"))
                .limits()
                .messageBytes())
        .isEqualTo(4128 << 10);
  }

  @Test
  void aQueueHoldsTwoMessages() {
    assertThatThrownBy(() -> ServerConfig.of(Map.of("limits.queue-bytes", "8388607")))
        .hasMessageStartingWith("limits.queue-bytes: 8388607 (expected: >= 8MiB, ");
  }

  @Test
  void theBusHoldsAQueue() {
    assertThatThrownBy(() -> ServerConfig.of(Map.of("limits.memory-bytes", "1MiB")))
        .hasMessageStartingWith("limits.memory-bytes: 1MiB (expected: >= 8MiB, ");
  }

  @Test
  void aHelloIsAMessage() {
    assertThatThrownBy(() -> ServerConfig.of(Map.of("limits.hello-bytes", "5MiB")))
        .hasMessageStartingWith("limits.message-bytes: 4MiB (expected: >= 5MiB, ");
  }

  @Test
  void tlsTakesBothFiles() {
    assertThatThrownBy(() -> ServerConfig.of(Map.of("tls.certificate", "chain.pem")))
        .hasMessageStartingWith("tls.key: none (expected: a file, because tls.certificate");
    assertThat(
            ServerConfig.of(Map.of("tls.certificate", "chain.pem", "tls.key", "key.pem"))
                .tls()
                .enabled())
        .isTrue();
  }

  private static ServerConfig of(String... settings) {
    Map<String, String> values = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    return ServerConfig.of(values);
  }

  private static void refused(String message, String... settings) {
    assertThatThrownBy(() -> of(settings)).hasMessageStartingWith(message);
  }

  @Test
  void certificatesOfClientsNeedTlsAndAnAuthority() {
    refused("tls.client-auth: none (expected: optional or required", "tls.client-ca", "ca.pem");
    refused("tls.client-ca: none (expected: a file, because", "tls.client-auth", "optional");
    refused(
        "tls.client-ca: set without TLS", "tls.client-ca", "ca.pem", "tls.client-auth", "required");
  }

  @Test
  void tokensNeedKeysAnIssuerAndAnAudience() {
    refused("auth.jwt.issuer: none (expected: a value", "auth.jwt.secret-file", "secret");
    refused("auth.jwt.audience: none", "auth.jwt.public-keys", "keys.pem", "auth.jwt.issuer", "i");
    refused("auth.jwt.issuer: set without keys", "auth.jwt.issuer", "i");
    refused("auth.jwt.issuer: \"a b\"", "auth.jwt.issuer", "a b");
    refused("auth.jwt.algorithms: \"none\"", "auth.jwt.algorithms", "RS256,none");
    refused("auth.jwt.algorithms: [RS256, RS256]", "auth.jwt.algorithms", "RS256,RS256");
    refused("auth.jwt.algorithms: [] (expected: at least one", "auth.jwt.algorithms", "");
    for (String url :
        new String[] {
          "http://login.example.org/keys",
          "http://127.0.0.1.example.org/keys",
          "http://localhost@login.example.org/keys",
          "https://user:password@login.example.org/keys",
          "file:///keys",
          "keys"
        }) {
      refused(
          "auth.jwt.jwks-url: \"" + url + "\" (expected: an https:// URL",
          "auth.jwt.jwks-url",
          url);
    }
    assertThat(
            of(
                    "auth.jwt.jwks-url",
                    "http://localhost:1/keys",
                    "auth.jwt.issuer",
                    "i",
                    "auth.jwt.audience",
                    "a")
                .auth()
                .jwt()
                .enabled())
        .isTrue();
  }

  @Test
  void anonymousAccessFollowsFromTheLoginMethods() {
    assertThat(of().anonymousClients()).isEqualTo(ClientScope.LOOPBACK);
    assertThat(of("auth.token", "t").anonymousClients()).isEqualTo(ClientScope.NOBODY);
    assertThat(of("auth.users-file", "users").anonymousClients()).isEqualTo(ClientScope.NOBODY);
    assertThat(
            of(
                    "tls.certificate",
                    "chain.pem",
                    "tls.key",
                    "key.pem",
                    "tls.client-ca",
                    "ca.pem",
                    "tls.client-auth",
                    "optional")
                .anonymousClients())
        .isEqualTo(ClientScope.NOBODY);
    assertThat(of("auth.token", "t", "auth.anonymous", "everyone").anonymousClients())
        .isEqualTo(ClientScope.EVERYONE);
    assertThat(of("auth.anonymous", "nobody").anonymousClients()).isEqualTo(ClientScope.NOBODY);
  }

  @Test
  void endpointsDoNotShareAPathOrPort() {
    assertThatThrownBy(() -> ServerConfig.of(Map.of("diagnostics.echo-path", "/bus")))
        .hasMessageStartingWith("diagnostics.echo-path: \"/bus\" (expected: another path");
    assertThatThrownBy(() -> ServerConfig.of(Map.of("admin.port", "8080")))
        .hasMessageStartingWith("admin.port: 8080 (expected: another port");
    assertThat(ServerConfig.of(Map.of("admin.port", "0", "listen.port", "0")).admin().port())
        .isZero();
  }
}
