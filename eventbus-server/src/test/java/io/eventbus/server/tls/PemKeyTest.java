package io.eventbus.server.tls;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.tls.TlsFiles.ConfiguredFile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PemKeyTest {
  private static final Path DIRECTORY = Path.of("keys");

  private static ConfiguredFile file(ConfigKey key, String name) {
    return new ConfiguredFile(key, DIRECTORY.resolve(name));
  }

  private static String text(String title) {
    return "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        + "-----BEGIN "
        + title
        + "-----\nMHcCAQEE\n-----END "
        + title
        + "-----\n";
  }

  @ParameterizedTest
  @CsvSource({
    "RSA PRIVATE KEY, PKCS#1, openssl pkcs8 -topk8 -nocrypt -in",
    "EC PRIVATE KEY, SEC 1, openssl pkcs8 -topk8 -nocrypt -in",
    "ENCRYPTED PRIVATE KEY, encrypted PKCS#8, openssl pkcs8 -in"
  })
  void unconvertedKeysAreRefusedWithTheCommandForThem(String title, String form, String command) {
    ConfiguredFile file = file(ConfigKey.TLS_KEY, "bus.key");
    assertThatThrownBy(() -> PemKey.check(file, text(title)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("tls.key: " + file.path() + " is a key in " + form)
        .hasMessageContaining(
            command + " " + file.path() + " -out " + DIRECTORY.resolve("bus-pkcs8.key"));
    ConfiguredFile plain = file(ConfigKey.CLUSTER_TLS_KEY, "key");
    assertThatThrownBy(() -> PemKey.check(plain, text(title)))
        .hasMessageStartingWith("cluster.tls-key: ")
        .hasMessageContaining("-out " + DIRECTORY.resolve("key-pkcs8"));
  }

  @Test
  void everythingElseIsLeftToWhatReadsIt() {
    ConfiguredFile file = file(ConfigKey.TLS_KEY, "good.pem");
    assertThatCode(() -> PemKey.check(file, text("PRIVATE KEY"))).doesNotThrowAnyException();
    assertThatCode(() -> PemKey.check(file, "")).doesNotThrowAnyException();
  }
}
