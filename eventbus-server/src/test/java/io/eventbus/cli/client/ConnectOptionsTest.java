package io.eventbus.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.TokenFile;
import io.eventbus.client.ConnectionListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectOptionsTest {
  @Test
  void aTokenIsTheFirstLineOfItsFile(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "s3cret \nsecond\n");
    assertThat(TokenFile.read(file)).isEqualTo("s3cret");
    Files.writeString(file, "\n");
    assertThatExceptionOfType(CliFailure.class)
        .isThrownBy(() -> TokenFile.read(file))
        .withMessageContaining("expected: a token");
    Files.writeString(file, "x".repeat(16 * 1024 + 1));
    assertThatExceptionOfType(CliFailure.class).isThrownBy(() -> TokenFile.read(file));
    assertThatExceptionOfType(CliFailure.class)
        .isThrownBy(() -> TokenFile.read(directory.resolve("none")))
        .withMessageContaining("cannot be read");
  }

  private static void refused(ConnectOptions options, String says) {
    assertThatExceptionOfType(CliFailure.class)
        .isThrownBy(() -> options.connect(Map.of(), new ConnectionListener() {}))
        .withMessageContaining(says);
  }

  @Test
  void aUserNeedsAPasswordAndATokenIsGivenOnce() {
    ConnectOptions user = new ConnectOptions();
    user.user = "alice";
    refused(user, "user alice without a password");
    ConnectOptions both = new ConnectOptions();
    both.token = "t";
    both.tokenFile = Path.of("token");
    refused(both, "--token and --token-file");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, ws://localhost:8080/bus",
    "localhost:9, ws://localhost:9/bus",
    "[::1]:9, ws://[::1]:9/bus",
    "ws://bus.example.org, ws://bus.example.org/bus",
    "wss://bus.example.org:9, wss://bus.example.org:9/bus",
    "wss://bus.example.org/other, wss://bus.example.org/other",
    "localhost:9/other, ws://localhost:9/other"
  })
  void addressesAreCompleted(String address, String url) {
    assertThat(ConnectOptions.uri(address)).hasToString(url);
  }
}
