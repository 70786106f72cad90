package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.security.users.PasswordHash;
import org.junit.jupiter.api.Test;

class HashPasswordCommandTest {
  private final CliHarness cli = new CliHarness();

  @Test
  void theFirstLineIsThePassword() {
    cli.stdin = "open sesame\nsecond\n";
    assertThat(cli.run("hash-password")).isZero();
    assertThat(PasswordHash.parse(cli.out().strip()).matches("open sesame")).isTrue();
    assertThat(cli.err()).isEmpty();
  }

  @Test
  void noPasswordIsRefused() {
    assertThat(cli.run("hash-password")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("no password");
    assertThat(cli.out()).isEmpty();
  }

  @Test
  void aPasswordIsNoArgument() {
    assertThat(cli.run("hash-password", "open sesame")).isEqualTo(ExitCode.USAGE);
  }
}
