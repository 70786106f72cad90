package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.config.ClusterSecurityConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterSecurityTest {
  private static final String SECRET = "a-secret-for-tests-only";

  private final Path directory;

  ClusterSecurityTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static ClusterSecurity of(String secret) {
    return ClusterSecurity.of(new ClusterSecurityConfig(secret, null, null, null, null));
  }

  @Test
  void theSameSecretGivesTheSameKey() throws Exception {
    byte[] key = of(SECRET).derive("one").orElseThrow();
    assertThat(key).hasSize(32);
    assertThat(new String(key, StandardCharsets.ISO_8859_1)).doesNotContain(SECRET);
    assertThat(of(SECRET).derive("one")).hasValueSatisfying(k -> assertThat(k).isEqualTo(key));
    Path file = Files.writeString(directory.resolve("secret"), SECRET + "\n");
    ClusterSecurity inFile =
        ClusterSecurity.of(new ClusterSecurityConfig(null, file, null, null, null));
    assertThat(inFile.derive("one")).hasValueSatisfying(k -> assertThat(k).isEqualTo(key));
    assertThat(of(SECRET).derive("two").orElseThrow()).isNotEqualTo(key);
    assertThat(of(SECRET + "!").derive("one").orElseThrow()).isNotEqualTo(key);
  }

  @Test
  void withoutASecretThereIsNoKey() {
    assertThat(
            ClusterSecurity.of(new ClusterSecurityConfig(null, null, null, null, null))
                .derive("one"))
        .isEmpty();
  }
}
