package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Caller and member in the process of a Go program, which takes a line and answers with a line. */
final class NatsGoCalls implements DriverCalls {
  /** Longer than a request may take. */
  private static final long ANSWER_SECONDS = 40;

  private static final int DIGITS = 3;
  private static final int COUNTS = 7;

  private final Process process;
  private final BufferedReader answers;
  private final DriverStopHook hook;

  private NatsGoCalls(Process process) {
    this.process = process;
    this.answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.hook = DriverStopHook.add("nats-call", process::destroyForcibly);
  }

  static NatsGoCalls start(List<String> command) {
    try {
      NatsGoCalls calls =
          DriverStopHook.whole(
              "nats-call",
              () ->
                  new NatsGoCalls(
                      new ProcessBuilder(command)
                          .redirectError(ProcessBuilder.Redirect.INHERIT)
                          .start()));
      try {
        calls.answer("ready");
        return calls;
      } catch (RuntimeException e) {
        calls.close();
        throw e;
      }
    } catch (IOException e) {
      throw new DriverException("nats-call does not start: " + String.join(" ", command), e);
    }
  }

  private String ask(String order, String expected) {
    try {
      process.getOutputStream().write((order + "\n").getBytes(StandardCharsets.US_ASCII));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new DriverException("nats-call has ended: " + order, e);
    }
    return answer(expected);
  }

  private String answer(String expected) {
    @Nullable String line;
    try {
      line = CompletableFuture.supplyAsync(this::readLine).get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while waiting for nats-call", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new DriverException("nats-call does not answer", e);
    }
    if (line == null || !line.startsWith(expected)) {
      throw new DriverException("nats-call says " + line + " (expected: " + expected + " …)");
    }
    return line;
  }

  private @Nullable String readLine() {
    try {
      return answers.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public List<Long> clientPids() {
    return List.of(process.pid());
  }

  @Override
  public void start() {
    ask("start", "started");
  }

  @Override
  public void measure() {
    ask("measure", "measuring");
  }

  @Override
  public Counts counts() {
    String[] words = ask("counts", "counts").split(" ", COUNTS);
    return new Counts(
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Long.parseLong(words[4]),
        Long.parseLong(words[5]),
        words[6]);
  }

  @Override
  public Histogram stop() {
    Histogram latency = new Histogram(DIGITS);
    String[] words = ask("stop", "latency").split(" ", -1);
    for (int i = 1; i < words.length; i++) {
      int colon = words[i].indexOf(':');
      latency.recordValueWithCount(
          Long.parseLong(words[i].substring(0, colon)),
          Long.parseLong(words[i].substring(colon + 1)));
    }
    return latency;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    hook.close();
  }
}
