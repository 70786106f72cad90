package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.JavaCommand;
import io.eventbus.loadtest.driver.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Bus in a process of its own, which can be ended and started again with the same settings. For one
 * thread, but for {@link #killNow}.
 */
final class LoadTestBus implements AutoCloseable {
  private static final String SERVER = "io.eventbus.cli.Main";
  private static final Pattern URL = Pattern.compile("ws://127\\.0\\.0\\.1:[0-9]+/[^\\s,]*");
  private static final Pattern ADMIN =
      Pattern.compile("administration on (http://127\\.0\\.0\\.1:[0-9]+)");
  private static final Duration START = Duration.ofMinutes(2);

  private final String name;
  private final @Nullable Path jar;
  private final List<String> jvmOptions;
  private final List<String> arguments;
  private volatile @Nullable ServerProcess process;
  private String url = "";
  private String admin = "";

  /**
   * Creates it; starts nothing.
   *
   * @param jar of the bus; null for the one on the class path
   */
  LoadTestBus(String name, @Nullable Path jar, List<String> jvmOptions, List<String> arguments) {
    this.name = name;
    this.jar = jar;
    this.jvmOptions = List.copyOf(jvmOptions);
    this.arguments = List.copyOf(arguments);
  }

  static boolean isThere() {
    try {
      Class.forName(SERVER, false, LoadTestBus.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Starts the process, which is not ready then. */
  void start() {
    String classPath = jar == null ? System.getProperty("java.class.path") : jar.toString();
    process =
        ServerProcess.start(
            name, JavaCommand.of(jvmOptions, classPath, SERVER, arguments), Map.of());
  }

  /** Waits until the bus takes connections. */
  void awaitListening() {
    // Both are in one line, this one last.
    admin = running().awaitOutput(ADMIN, START).group(1);
    url = running().awaitOutput(URL, START).group();
  }

  /** Sends SIGTERM, and waits until the process has ended. */
  void stop(Duration timeout) {
    if (!running().stop(timeout)) {
      throw new DriverException(
          name + " did not end within " + timeout.toSeconds() + " s:\n" + running().tail());
    }
    close();
  }

  /** Sends SIGKILL. */
  void kill() {
    running().kill();
    close();
  }

  /** Stops all threads, and waits until they stand still. */
  void pause() {
    running().pause();
  }

  private ServerProcess running() {
    ServerProcess now = process;
    if (now == null) {
      throw new DriverException(name + " does not run");
    }
    return now;
  }

  String name() {
    return name;
  }

  /** Returns where clients connect. */
  String url() {
    return url;
  }

  /** Returns where operators ask. */
  BusAdmin admin() {
    return new BusAdmin(name, admin);
  }

  long pid() {
    return running().pid();
  }

  /** Returns the end of what the bus has written. */
  String tail() {
    return running().tail();
  }

  /** Kills the process if there is one, and forgets nothing of it; any thread. */
  void killNow() {
    ServerProcess now = process;
    if (now != null) {
      now.kill();
    }
  }

  /** Kills the process if there is one. */
  void abandon() {
    if (process != null) {
      process.kill();
      close();
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.close();
      process = null;
    }
  }
}
