package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs that run to their end, such as mount. Any thread. */
public final class SystemCommand {
  private static final long DEADLINE_SECONDS = 60;

  private SystemCommand() {}

  /**
   * Result of a program.
   *
   * @param code the exit code; -1 if it was killed at the deadline
   * @param output what it wrote, errors included
   */
  public record Result(int code, String output) {}

  /**
   * Returns what is missing for programs that need root.
   *
   * @return the empty text if nothing is
   */
  public static String lacks(List<String> programs) {
    if (!"root".equals(System.getProperty("user.name"))) {
      return "root";
    }
    return String.join(
        ", ", programs.stream().filter(program -> Programs.find(program).isEmpty()).toList());
  }

  /** Returns the path of a program, or its name if it is not found. */
  public static String program(String name) {
    return Programs.find(name).map(Path::toString).orElse(name);
  }

  /**
   * Runs a program to its end.
   *
   * @param seconds time after which it is killed
   * @throws IOException if it cannot be run
   */
  public static Result result(long seconds, String... command)
      throws IOException, InterruptedException {
    Path file = Files.createTempFile("loadtest-command-", ".log");
    try {
      // To a file: a program that writes much must not wait for a reader.
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(file.toFile())
              .start();
      boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly();
      }
      return new Result(
          ended ? process.exitValue() : -1, Files.readString(file, StandardCharsets.ISO_8859_1));
    } finally {
      Files.deleteIfExists(file);
    }
  }

  /**
   * Runs a program to its end.
   *
   * @throws DriverException if it fails, or does not end in a minute
   */
  public static void run(String... command) {
    String shown = String.join(" ", command);
    Result result;
    try {
      result = result(DEADLINE_SECONDS, command);
    } catch (IOException e) {
      throw new DriverException(shown + " does not run", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted during " + shown, e);
    }
    if (result.code() < 0) {
      throw new DriverException(shown + " did not end in " + DEADLINE_SECONDS + " s");
    }
    if (result.code() != 0) {
      throw new DriverException(
          shown + " ended with " + result.code() + ": " + result.output().strip());
    }
  }
}
