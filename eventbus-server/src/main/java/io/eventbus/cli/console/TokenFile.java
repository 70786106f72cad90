package io.eventbus.cli.console;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A token or a password in a file of its own, where other users of the machine cannot read it. */
public final class TokenFile {
  /** As much as fits into {@code Hello.token}. */
  private static final int MAX_BYTES = 16 * 1024;

  private TokenFile() {}

  /**
   * Reads a token.
   *
   * @throws CliFailure if it cannot be read, is empty or too long
   */
  public static String read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 2);
      String line =
          new String(bytes, StandardCharsets.UTF_8).lines().findFirst().orElse("").strip();
      if (line.isEmpty() || line.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
        throw new CliFailure(
            ExitCode.USAGE,
            "--token-file "
                + file
                + " (expected: a token of 1 to "
                + MAX_BYTES
                + " bytes in its first line)");
      }
      return line;
    } catch (IOException e) {
      throw new CliFailure(ExitCode.USAGE, "--token-file " + file + " cannot be read: " + e, e);
    }
  }
}
