package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PemKeyTest {
  private final Path directory;

  PemKeyTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private Path key(String name, String title) throws IOException {
    return Files.writeString(
        directory.resolve(name),
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
            + "-----BEGIN "
            + title
            + "-----\nMHcCAQEE\n-----END "
            + title
            + "-----\n");
  }

  @ParameterizedTest
  @CsvSource({
    "RSA PRIVATE KEY, PKCS#1, openssl pkcs8 -topk8 -nocrypt -in",
    "EC PRIVATE KEY, SEC 1, openssl pkcs8 -topk8 -nocrypt -in",
    "ENCRYPTED PRIVATE KEY, encrypted PKCS#8, openssl pkcs8 -in"
  })
  void whatHasToBeConvertedIsRefusedWithTheCommandThatDoes(
      String title, String form, String command) throws Exception {
    Path file = key("bus.key", title);
    assertThatThrownBy(() -> PemKey.check(ConfigKey.TLS_KEY, file))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("tls.key: " + file + " is a key in " + form)
        .hasMessageContaining(command + " " + file + " -out " + directory.resolve("bus-pkcs8.key"));
    Path plain = key("key", title);
    assertThatThrownBy(() -> PemKey.check(ConfigKey.CLUSTER_TLS_KEY, plain))
        .hasMessageStartingWith("cluster.tls-key: ")
        .hasMessageContaining("-out " + directory.resolve("key-pkcs8"));
  }

  @Test
  void everythingElseIsLeftToWhoReadsIt() throws Exception {
    Path good = key("good.pem", "PRIVATE KEY");
    assertThatCode(() -> PemKey.check(ConfigKey.TLS_KEY, good)).doesNotThrowAnyException();
    assertThatCode(() -> PemKey.check(ConfigKey.TLS_KEY, null)).doesNotThrowAnyException();
    assertThatCode(() -> PemKey.check(ConfigKey.TLS_KEY, directory)).doesNotThrowAnyException();
    assertThatCode(() -> PemKey.check(ConfigKey.TLS_KEY, directory.resolve("none")))
        .doesNotThrowAnyException();
  }
}
