package io.eventbus.registry.faults;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Bus of the test: a process that is killed, paused and started again with the same directory and
 * the same address. Any thread may ask it; one thread at a time starts and harms it.
 */
final class Bus {
  /** Life of the process. */
  private static final class Life {
    final Process process;
    final BufferedWriter in;
    final Map<Long, CompletableFuture<Answer>> asked = new ConcurrentHashMap<>();
    final CompletableFuture<Integer> ready = new CompletableFuture<>();
    final CompletableFuture<String> started = new CompletableFuture<>();
    volatile boolean wanted = true;

    Life(Process process) {
      this.process = process;
      this.in =
          new BufferedWriter(
              new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }
  }

  private static final Duration ANSWER = Duration.ofSeconds(10);

  private final int index;
  private final Network network;
  private final List<String> java;
  private final Recorder recorder;
  private final AtomicLong numbers = new AtomicLong();
  private BusSettings settings;
  private volatile @Nullable Life life;
  private volatile boolean paused;

  Bus(int index, BusSettings settings, Network network, List<String> java, Recorder recorder) {
    this.index = index;
    this.settings = settings;
    this.network = network;
    this.java = java;
    this.recorder = recorder;
  }

  int index() {
    return index;
  }

  String name() {
    return settings.name();
  }

  BusSettings settings() {
    return settings;
  }

  boolean isUp() {
    return life != null;
  }

  boolean isPaused() {
    return paused;
  }

  boolean isStarted() {
    Life now = life;
    return now != null && now.started.isDone() && !now.started.isCompletedExceptionally();
  }

  /** Starts the process and waits until it listens; the registry goes on starting. */
  void start() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(network.prefix(index));
    command.addAll(java);
    command.add(BusProcess.class.getName());
    command.addAll(settings.arguments());
    Path directory = Path.of(settings.directory());
    Files.createDirectories(directory);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    builder.redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve("bus.log").toFile()));
    Life next = new Life(builder.start());
    Thread reader = new Thread(() -> read(next), "reader-" + name());
    reader.setDaemon(true);
    reader.start();
    life = next;
    try {
      int port = next.ready.get(60, TimeUnit.SECONDS);
      settings =
          new BusSettings(
              settings.name(),
              settings.directory(),
              settings.host(),
              port,
              settings.seeds(),
              settings.voters(),
              settings.replaceVoterAfterMillis(),
              settings.leaseMillis(),
              settings.snapshotEntries(),
              settings.rememberedCommands());
    } catch (ExecutionException | TimeoutException e) {
      kill();
      throw new IOException(name() + " did not begin to listen; see " + directory, e);
    }
  }

  /** Waits until the registry accepts commands. */
  void awaitStarted(Duration deadline) throws IOException, InterruptedException {
    Life now = life;
    if (now == null) {
      throw new IOException(name() + " has ended");
    }
    try {
      now.started.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException(name() + " did not start within " + deadline, e);
    }
  }

  /** Sends SIGKILL, and waits for the end. */
  void kill() throws InterruptedException {
    Life now = life;
    if (now == null) {
      return;
    }
    now.wanted = false;
    life = null;
    paused = false;
    now.process.destroyForcibly();
    if (!now.process.waitFor(10, TimeUnit.SECONDS)) {
      throw new IllegalStateException(name() + " has not ended 10 s after SIGKILL");
    }
  }

  void pause() throws IOException, InterruptedException {
    Life now = life;
    if (now != null) {
      paused = true;
      Shell.signal("STOP", now.process.pid());
    }
  }

  void resume() throws IOException, InterruptedException {
    Life now = life;
    if (now != null && paused) {
      Shell.signal("CONT", now.process.pid());
    }
    paused = false;
  }

  /** Sends a request; the future fails when the process ends first. */
  CompletableFuture<Answer> ask(String request) {
    Life now = life;
    if (now == null) {
      return CompletableFuture.failedFuture(new IOException(name() + " is down"));
    }
    long number = numbers.incrementAndGet();
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    now.asked.put(number, answer);
    try {
      synchronized (now.in) {
        now.in.write(number + " " + request + "\n");
        now.in.flush();
      }
    } catch (IOException e) {
      now.asked.remove(number);
      answer.completeExceptionally(e);
    }
    if (!now.process.isAlive()) {
      answer.completeExceptionally(new IOException(name() + " has ended"));
    }
    return answer;
  }

  /** Asks and waits; for requests that are no part of the history. */
  @Nullable Answer ask(String request, Duration deadline) throws InterruptedException {
    try {
      return ask(request).get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
  }

  /** Sends a request that has to be answered within 10 seconds. */
  Answer answer(String request) {
    try {
      return Objects.requireNonNull(ask(request, ANSWER), request);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void read(Life of) {
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(of.process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        handle(of, line.split(" ", -1), line);
      }
    } catch (IOException | UncheckedIOException e) {
      // The process has ended.
    }
    IOException ended = new IOException(name() + " has ended");
    of.ready.completeExceptionally(ended);
    of.started.completeExceptionally(ended);
    of.asked.values().forEach(answer -> answer.completeExceptionally(ended));
    if (of.wanted) {
      recorder.finding("the process of " + name() + " has ended by itself");
    }
  }

  private void handle(Life of, String[] words, String line) {
    if (!words[0].equals("!")) {
      CompletableFuture<Answer> answer = of.asked.remove(Long.parseLong(words[0]));
      if (answer != null) {
        answer.complete(Answer.parse(words));
      }
      return;
    }
    switch (words[1]) {
      case "ready" -> of.ready.complete(Integer.parseInt(words[2]));
      case "started" -> of.started.complete(words[2]);
      case "ended" -> {
        of.wanted = false;
        life = null;
        recorder.ended();
      }
      case "life" -> recorder.life(name(), Integer.parseInt(words[2]));
      case "state" ->
          recorder.state(
              index,
              Long.parseLong(words[2]),
              Long.parseLong(words[3]),
              Integer.parseInt(words[4]));
      case "failed" -> {
        of.started.completeExceptionally(new IOException(line));
        recorder.finding("the registry of " + name() + " did not start: " + line);
      }
      default -> recorder.finding(name() + ": " + line);
    }
  }

  /** Returns the cluster that it belongs to, once it has started. */
  String cluster() {
    Life now = life;
    return now == null ? "" : now.started.getNow("");
  }
}
