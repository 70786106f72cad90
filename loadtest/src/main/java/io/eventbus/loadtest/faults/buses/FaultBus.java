package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Bus as a process, which has the same ports and the same data directory in each of its lives. For
 * one thread; any thread may ask for its addresses, and for the number of its life.
 */
public final class FaultBus implements AutoCloseable {
  private static final Pattern LISTENS = Pattern.compile("administration on http");
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private final String name;
  private final List<String> command;
  private final Path logs;
  private final URI url;
  private final BusAnswers state;
  private final @Nullable LoopDisk disk;
  private final AtomicInteger life = new AtomicInteger();
  private @Nullable ServerProcess process;
  private boolean paused;

  FaultBus(
      String name,
      List<String> command,
      Path logs,
      URI url,
      BusAnswers state,
      @Nullable LoopDisk disk) {
    this.name = name;
    this.command = List.copyOf(command);
    this.logs = logs;
    this.url = url;
    this.state = state;
    this.disk = disk;
  }

  /** Returns its name. */
  public String name() {
    return name;
  }

  /** Returns where clients connect. */
  public URI url() {
    return url;
  }

  /** Returns what it tells operators. */
  public BusAnswers state() {
    return state;
  }

  /** Returns the number of its present or last life, from 1. */
  public int life() {
    return life.get();
  }

  /**
   * Returns its file system.
   *
   * @throws DriverException if it has none of its own
   */
  public LoopDisk disk() {
    if (disk == null) {
      throw new DriverException(name + " has no file system of its own");
    }
    return disk;
  }

  /** Starts the process, which is not ready then. */
  public void start() {
    int number = life.incrementAndGet();
    process =
        ServerProcess.start(name, command, Map.of(), logs.resolve(name + "." + number + ".log"));
  }

  /**
   * Waits until it takes connections.
   *
   * @throws DriverException if it does not, with the end of its log
   */
  public void awaitListening() {
    running().awaitOutput(LISTENS, DEADLINE);
  }

  private ServerProcess running() {
    ServerProcess now = process;
    if (now == null) {
      throw new DriverException(name + " does not run");
    }
    return now;
  }

  /** Returns whether the process runs, or stands still. */
  public boolean isUp() {
    return process != null && process.isAlive();
  }

  /** Returns whether it was stopped by {@link #pause}. */
  public boolean isPaused() {
    return paused;
  }

  /** Returns the end of its log. */
  public String tail() {
    return process == null ? "" : process.tail();
  }

  /** Sends SIGKILL, and waits until the process has ended. */
  public void kill() {
    ServerProcess now = process;
    if (now != null) {
      now.kill();
      now.close();
    }
    paused = false;
  }

  /** Sends SIGSTOP, and waits until nothing of it runs. */
  public void pause() {
    running().pause();
    paused = true;
  }

  /** Sends SIGCONT. */
  public void resume() {
    running().resume();
    paused = false;
  }

  @Override
  public void close() {
    kill();
  }
}
