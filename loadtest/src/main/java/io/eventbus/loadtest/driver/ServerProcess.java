package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The process of a server under test, with its output in a temporary file.
 *
 * <p>It is ended by its own id when it is closed, and by a shutdown hook when the load test is
 * stopped by a signal: with SIGTERM where there are signals, and after 5 seconds with SIGKILL. Then
 * its output is deleted, unless it was started with a file for it. For one thread.
 */
public final class ServerProcess implements AutoCloseable {
  private static final Duration POLITE = Duration.ofSeconds(5);
  private static final int SHOWN_OUTPUT = 2000;

  private final String name;
  private final Process process;
  private final Path output;
  private final boolean kept;
  private final DriverStopHook hook;

  private ServerProcess(String name, Process process, Path output, boolean kept) {
    this.name = name;
    this.process = process;
    this.output = output;
    this.kept = kept;
    this.hook = DriverStopHook.add(name, this::end);
  }

  /**
   * Starts a process.
   *
   * @return the process, started but not necessarily ready
   * @throws DriverException if it cannot be started
   */
  public static ServerProcess start(
      String name, List<String> command, Map<String, String> environment) {
    try {
      return DriverStopHook.whole(
          name,
          () -> {
            Path output = Files.createTempFile("loadtest-" + name + "-", ".log");
            return new ServerProcess(name, launch(command, environment, output), output, false);
          });
    } catch (IOException e) {
      throw notStarted(name, command, e);
    }
  }

  /**
   * Starts a process whose output is kept.
   *
   * @param output the file for it, which is not there yet
   * @return the process, started but not necessarily ready
   * @throws DriverException if it cannot be started
   */
  public static ServerProcess start(
      String name, List<String> command, Map<String, String> environment, Path output) {
    try {
      return DriverStopHook.whole(
          name, () -> new ServerProcess(name, launch(command, environment, output), output, true));
    } catch (IOException e) {
      throw notStarted(name, command, e);
    }
  }

  private static DriverException notStarted(String name, List<String> command, IOException e) {
    return new DriverException(name + " does not start: " + String.join(" ", command), e);
  }

  private static Process launch(List<String> command, Map<String, String> environment, Path output)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    try {
      return builder.start();
    } catch (IOException e) {
      Files.deleteIfExists(output);
      throw e;
    }
  }

  /**
   * Starts another JVM of the kind that runs this, with the same class path.
   *
   * @return the process, started but not necessarily ready
   * @throws DriverException if it cannot be started
   */
  public static ServerProcess startJava(
      String name, List<String> jvmOptions, String mainClass, List<String> arguments) {
    return start(name, JavaCommand.of(jvmOptions, mainClass, arguments), Map.of());
  }

  /** Returns the id of the process. */
  public long pid() {
    return process.pid();
  }

  /** Returns whether the process runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Returns how the process has ended.
   *
   * @return its exit code, -1 while it runs
   */
  public int exitCode() {
    return process.isAlive() ? -1 : process.exitValue();
  }

  /** Counts what it has written so far. */
  public long outputLines() {
    byte[] buffer = new byte[1 << 16];
    long lines = 0;
    try (InputStream in = Files.newInputStream(output)) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        for (int i = 0; i < n; i++) {
          lines += buffer[i] == '\n' ? 1 : 0;
        }
      }
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Counts the octets of what it has written so far. */
  public long outputBytes() {
    try {
      return Files.size(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the process at once, with SIGKILL where there are signals, and waits until it is gone. */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(POLITE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Kills processes at once; their data may be incomplete then. */
  public static void killAll(List<ServerProcess> processes) {
    processes.forEach(ServerProcess::kill);
    processes.forEach(ServerProcess::close);
  }

  /**
   * Stops all threads of the process with SIGSTOP, and waits until they stand still or wait for the
   * system. Linux only.
   *
   * @throws DriverException if they do not
   */
  public void pause() {
    signal("STOP");
    long end = System.nanoTime() + POLITE.toNanos();
    while (process.isAlive() && !standsStill()) {
      if (System.nanoTime() - end > 0) {
        throw new DriverException(name + " does not stand still after SIGSTOP");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** Lets a process go on that {@link #pause} has stopped. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String signal) {
    SystemCommand.run("kill", "-" + signal, Long.toString(pid()));
  }

  /** Returns whether no thread runs: each is stopped (T) or in a call of the system (D). */
  private boolean standsStill() {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
      return threads.allMatch(
          thread -> {
            try {
              String state = Files.readString(thread.resolve("stat"));
              char letter = state.charAt(state.lastIndexOf(')') + 2);
              return letter == 'T' || letter == 'D';
            } catch (IOException e) {
              // The thread has ended.
              return true;
            }
          });
    } catch (IOException e) {
      throw new DriverException(name + " has no threads in /proc", e);
    }
  }

  /** Asks the process to end, with SIGTERM where there are signals. */
  public void terminate() {
    process.destroy();
  }

  /**
   * Asks the process to end, with SIGTERM where there are signals, and waits.
   *
   * @return false if it still runs then
   */
  public boolean stop(Duration timeout) {
    terminate();
    try {
      return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Waits until the output holds a line with the pattern.
   *
   * @throws DriverException if the process ends or the time passes before
   */
  public Matcher awaitOutput(Pattern pattern, Duration deadline) {
    long end = System.nanoTime() + deadline.toNanos();
    while (true) {
      // Asked before the output is read, so that the last words of a process are not missed.
      boolean alive = process.isAlive();
      Matcher matcher = pattern.matcher(output());
      if (matcher.find()) {
        return matcher;
      }
      if (!alive) {
        throw new DriverException(
            name + " ended with " + process.exitValue() + " before it was ready:\n" + tail());
      }
      if (System.nanoTime() > end) {
        throw new DriverException(
            name + " was not ready within " + deadline.toMillis() + " ms:\n" + tail());
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  /**
   * Returns the end of the output, for messages.
   *
   * @return at most 2,000 characters
   */
  public String tail() {
    String all = output();
    return all.substring(Math.max(0, all.length() - SHOWN_OUTPUT));
  }

  private String output() {
    try {
      return Files.readString(output, java.nio.charset.StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    end();
    hook.close();
  }

  private void end() {
    process.destroy();
    try {
      if (!process.waitFor(POLITE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        process.waitFor(POLITE.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    if (kept) {
      return;
    }
    try {
      Files.deleteIfExists(output);
    } catch (IOException e) {
      // A log in the system's temporary directory is no reason to lose results.
      return;
    }
  }
}
