package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs of the system, such as mount. Any thread. */
final class SystemCommand {
  private static final long DEADLINE_SECONDS = 60;

  private SystemCommand() {}

  /**
   * Runs a program to its end.
   *
   * @throws DriverException if it fails, or does not end in a minute
   */
  static void run(String... command) {
    int code;
    String output;
    try {
      Path file = Files.createTempFile("loadtest-command-", ".log");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(file.toFile())
                .start();
        if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new DriverException(
              String.join(" ", command) + " did not end in " + DEADLINE_SECONDS + " s");
        }
        code = process.exitValue();
        output = Files.readString(file, StandardCharsets.ISO_8859_1);
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new DriverException(String.join(" ", command) + " does not run", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted during " + String.join(" ", command), e);
    }
    if (code != 0) {
      throw new DriverException(
          String.join(" ", List.of(command)) + " ended with " + code + ": " + output.strip());
    }
  }
}
