package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Bus as a process, which has the same ports and the same data directory in each of its lives. For
 * one thread; any thread may ask for its addresses, and for the number of its life.
 */
public final class FaultBus implements AutoCloseable {
  private static final Pattern LISTENS = Pattern.compile("administration on http");
  private static final Duration STOP = Duration.ofMinutes(1);
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private final String name;
  private final List<String> command;
  private final Path data;
  private final Path logs;
  private final URI url;
  private final BusAnswers state;
  private final @Nullable LoopDisk disk;
  private final AtomicInteger life = new AtomicInteger();
  private @Nullable ServerProcess process;
  private final Set<String> lost = new HashSet<>();
  private boolean paused;

  FaultBus(
      String name,
      List<String> command,
      Path data,
      Path logs,
      URI url,
      BusAnswers state,
      @Nullable LoopDisk disk) {
    this.name = name;
    this.command = List.copyOf(command);
    this.data = data;
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

  /** Asks the process to end, and does not wait. */
  public void terminate() {
    running().terminate();
  }

  /** Asks the process to end, and kills it if it has not after a minute. */
  public void stop() {
    if (!running().stop(STOP)) {
      kill();
    }
    paused = false;
  }

  /**
   * Changes a bit of its journals, while it does not run.
   *
   * @return empty if it has none
   */
  public Optional<BitFlip> flip(Random random) {
    return BitFlip.in(data.resolve("shards"), random);
  }

  /**
   * Opens the rows of its journals, while it does not run.
   *
   * @throws DriverException if they cannot be read
   */
  StoredRows rows() {
    // Not beside the rows: a file system is not unmounted while a library of it is in use.
    return StoredRows.open(name, data, logs.resolve("native"));
  }

  /** Returns the replicas whose files were deleted. */
  Set<String> lost() {
    return lost;
  }

  /**
   * Deletes its data directory, while it does not run.
   *
   * @throws DriverException if something is left
   */
  public void lose() {
    try {
      lost.add(StoredRows.identity(data).member());
      Directories.delete(data);
    } catch (IOException e) {
      throw new DriverException(data + " is not deleted", e);
    }
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
