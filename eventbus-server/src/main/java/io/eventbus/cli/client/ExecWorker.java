package io.eventbus.cli.client;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.WorkDelivery;
import io.eventbus.client.WorkHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a command for each event, and settles the event by its exit code. Any thread. */
final class ExecWorker implements WorkHandler {
  /** Exit code that rejects an event: EX_DATAERR of sysexits.h. */
  static final int REJECT = 65;

  /** Part of the end of the standard error that is remembered for the reason. */
  private static final int TAIL_CHARS = 1024;

  private static final long REST_SECONDS = 2;

  private static final Logger LOG = LoggerFactory.getLogger(ExecWorker.class);

  private final String command;
  private final Duration ackTimeout;
  private final PrintWriter err;
  private final Set<Process> running = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(ExecWorker::daemon);
  // Two threads for each command that runs.
  private final ExecutorService pipes = Executors.newCachedThreadPool(ExecWorker::daemon);
  private volatile boolean stopped;

  /**
   * Creates the handler.
   *
   * @param err gets the standard error of the commands
   */
  ExecWorker(String command, Duration ackTimeout, PrintWriter err) {
    this.command = command;
    this.ackTimeout = ackTimeout;
    this.err = err;
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "eventbus-work");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void onEvent(ReceivedEvent event, WorkDelivery delivery)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", command).redirectOutput(ProcessBuilder.Redirect.INHERIT);
    Map<String, String> environment = builder.environment();
    environment.put("EVENTBUS_TOPIC", event.topic());
    environment.put("EVENTBUS_POSITION", Long.toString(event.position()));
    environment.put("EVENTBUS_ATTEMPT", Integer.toString(delivery.attempt()));
    Process process = builder.start();
    // Before `stopped` is read: a stop that comes later finds the process in the set.
    running.add(process);
    if (stopped) {
      kill(process);
    }
    long third = ackTimeout.toNanos() / 3;
    ScheduledFuture<?> extensions =
        timer.scheduleAtFixedRate(delivery::extend, third, third, TimeUnit.NANOSECONDS);
    Tail tail = new Tail();
    Future<?> input = pipes.submit(() -> write(process, event.payload()));
    Future<?> errors = pipes.submit(() -> copy(process.getErrorStream(), tail));
    try {
      int code = process.waitFor();
      awaitRest(errors);
      if (code == REJECT) {
        String reason = tail.lastLine();
        delivery.reject(reason.isEmpty() ? ended(code) : reason);
      } else if (code != 0) {
        throw new IOException(ended(code));
      }
    } finally {
      extensions.cancel(false);
      input.cancel(true);
      running.remove(process);
      kill(process);
    }
  }

  private static String ended(int code) {
    return "the command ended with exit code " + code;
  }

  /** Copies the standard error to that of this process. */
  private void copy(InputStream from, Tail tail) {
    char[] read = new char[TAIL_CHARS];
    try (Reader text = new InputStreamReader(from, StandardCharsets.UTF_8)) {
      for (int chars = text.read(read); chars >= 0; chars = text.read(read)) {
        tail.add(read, chars);
        err.write(read, 0, chars);
        err.flush();
      }
    } catch (IOException e) {
      LOG.debug("the standard error of the command ended", e);
    }
  }

  /** Waits for the standard error of a command that has ended, unless a child keeps it open. */
  private static void awaitRest(Future<?> errors) throws InterruptedException {
    try {
      errors.get(REST_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("the standard error of the command goes on", e);
    }
  }

  /** End of the standard error of a command. Any thread. */
  private static final class Tail {
    private final StringBuilder text = new StringBuilder();

    synchronized void add(char[] read, int chars) {
      text.append(read, 0, chars);
      text.delete(0, Math.max(0, text.length() - TAIL_CHARS));
    }

    /** Returns the last line with text. */
    synchronized String lastLine() {
      String end = text.toString().stripTrailing();
      return end.substring(end.lastIndexOf('\n') + 1).strip();
    }
  }

  private static void write(Process process, byte[] payload) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(payload);
    } catch (IOException e) {
      // The command does not read it, or not all of it, which it may do.
      LOG.debug("the command did not read its input", e);
    }
  }

  private static void kill(Process process) {
    // The shell first, or it would take the end of its children for success.
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
  }

  /** Kills the commands that run, and those that begin meanwhile: their events come again. */
  void stop() {
    stopped = true;
    // Threads are not stopped: a command that begins now needs some, and they are daemons.
    running.forEach(ExecWorker::kill);
  }
}
