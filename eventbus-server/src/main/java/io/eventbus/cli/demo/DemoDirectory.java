package io.eventbus.cli.demo;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Temporary directory for the files of the demo's buses. */
record DemoDirectory(Path path) implements AutoCloseable {
  /**
   * Creates a directory.
   *
   * @throws CliFailure if that fails
   */
  static DemoDirectory create() {
    try {
      return new DemoDirectory(Files.createTempDirectory("eventbus-demo-"));
    } catch (IOException e) {
      throw new CliFailure(
          ExitCode.FAILED, "no directory for the buses: " + Failures.describe(e), e);
    }
  }

  /** Deletes the directory with its files, which no bus may use any more. */
  @Override
  public void close() {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // The system's directory for temporary files has it, and is cleaned up with it.
      return;
    }
  }
}
