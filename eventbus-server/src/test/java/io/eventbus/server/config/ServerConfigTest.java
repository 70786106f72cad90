package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
