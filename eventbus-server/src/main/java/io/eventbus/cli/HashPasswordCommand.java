package io.eventbus.cli;

import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.security.users.PasswordHash;
import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import picocli.CommandLine.Command;

/** Hash of a password for the users file. The password is never an argument, which others see. */
@Command(
    name = "hash-password",
    description = {
      "Prints the hash of a password for a line of the users file (auth.users-file).",
      "Asks for the password at a terminal, else reads it from the first line of standard input."
    })
final class HashPasswordCommand implements Runnable {
  /** Maximum that fits into Hello.token. */
  private static final int MAX_BYTES = 16 * 1024;

  private final CliContext context;

  HashPasswordCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public void run() {
    Console console = CliContext.console();
    String password = console == null ? piped() : asked(console);
    if (password.isEmpty() || password.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw new CliFailure(
          ExitCode.USAGE, "no password (expected: 1 to " + MAX_BYTES + " bytes of UTF-8)");
    }
    context.out().line(PasswordHash.of(password, new SecureRandom()).text());
  }

  private static String asked(Console console) {
    char[] first = console.readPassword("Password: ");
    char[] again = console.readPassword("Again: ");
    if (first == null || again == null || !Arrays.equals(first, again)) {
      throw new CliFailure(ExitCode.USAGE, "the passwords differ (expected: the same one twice)");
    }
    return new String(first);
  }

  private String piped() {
    try {
      byte[] bytes = context.in().readNBytes(MAX_BYTES + 2);
      return new String(bytes, StandardCharsets.UTF_8).lines().findFirst().orElse("");
    } catch (IOException e) {
      throw new CliFailure(ExitCode.FAILED, "standard input cannot be read: " + e, e);
    }
  }
}
