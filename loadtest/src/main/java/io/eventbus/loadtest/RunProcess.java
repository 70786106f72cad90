package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.RunResult;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A load generator in a JVM of its own, with one system; rests between its runs. */
final class RunProcess implements AutoCloseable {
  private static final long POLL_MILLIS = 20;
  private static final long END_SECONDS = 20;

  private final Path directory;
  private final Path result;
  private final Process process;
  private final DriverStopHook hook;

  /**
   * Starts it; it does nothing yet.
   *
   * @throws IOException if it cannot be started
   * @throws DriverException if the load test is being stopped
   */
  static RunProcess start(List<String> command) throws IOException {
    return DriverStopHook.whole("run", () -> new RunProcess(command));
  }

  private RunProcess(List<String> command) throws IOException {
    directory = Files.createTempDirectory("loadtest-");
    result = directory.resolve("result.json");
    List<String> whole = new ArrayList<>(command);
    whole.add("--result=" + result);
    try {
      process =
          new ProcessBuilder(whole)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
    } catch (IOException e) {
      Directories.delete(directory);
      throw e;
    }
    // The run stops with this process.
    hook = DriverStopHook.add("run", this::end);
  }

  /**
   * Has it make a run.
   *
   * @return the result; null if it has ended, or gave none in time
   * @throws IOException if the result cannot be read
   * @throws InterruptedException if the thread is interrupted
   */
  @Nullable RunResult run(int number, Duration deadline) throws IOException, InterruptedException {
    try {
      OutputStream numbers = process.getOutputStream();
      numbers.write((number + "\n").getBytes(StandardCharsets.US_ASCII));
      numbers.flush();
    } catch (IOException e) {
      // The pipe is broken: it has ended, or is about to.
      endsSoon();
      return null;
    }
    long end = System.nanoTime() + deadline.toNanos();
    boolean ended = false;
    while (!Files.exists(result)) {
      if (ended || System.nanoTime() > end) {
        return null;
      }
      ended = process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
    }
    RunResult found = ResultsJson.readRun(result);
    Files.delete(result);
    return found;
  }

  /** Returns how it has ended, or -1 if it has not. */
  int exitCode() {
    return process.isAlive() ? -1 : process.exitValue();
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The process has ended already.
    }
    // The process ends by itself when it has nothing more to read.
    endsSoon();
    end();
    hook.close();
  }

  private void end() {
    // Its own hooks end the servers; by force it could not.
    process.destroy();
    if (!endsSoon()) {
      process.destroyForcibly();
    }
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      // A file in the system's temporary directory is no reason to lose results.
      return;
    }
  }

  private boolean endsSoon() {
    try {
      return process.waitFor(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
