package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs in other languages that a test uses. A machine without them leaves the test out. */
final class Foreign {
  private Foreign() {}

  /** Outcome of a program. */
  record Ended(int code, String output) {}

  /** Runs a program to its end. */
  static Ended run(List<String> command, Path directory, long minutes) throws Exception {
    Path output = Files.createTempFile(directory, "output", ".txt");
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(minutes, TimeUnit.MINUTES))
          .as("%s ends within %d minutes: %s", command, minutes, Files.readString(output))
          .isTrue();
      return new Ended(process.exitValue(), Files.readString(output));
    } finally {
      process.destroyForcibly();
    }
  }

  /** Creates an environment of Python with one package, and returns its interpreter. */
  static Path python(Path directory, String requirement) throws Exception {
    Path python = directory.resolve("venv/bin/python");
    assumeWorks(
        directory, "python3 with venv is needed", "python3", "-m", "venv", directory + "/venv");
    assumeWorks(
        directory,
        requirement + " is needed",
        python.toString(),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        requirement);
    return python;
  }

  private static void assumeWorks(Path directory, String why, String... command) throws Exception {
    Ended ended;
    try {
      ended = run(List.of(command), directory, 5);
    } catch (IOException e) {
      ended = new Ended(-1, e.toString());
    }
    assumeTrue(ended.code() == 0, why + ": " + ended.output());
  }
}
