package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.Fault;
import io.eventbus.loadtest.driver.FaultyDriver;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that a run has, whether it is made here or in a JVM of its own. */
final class RunOptions {
  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "Warm up for so long instead of what the workload says.")
  private @Nullable Double warmUp;

  @Option(
      names = "--duration",
      paramLabel = "SECONDS",
      description = "Measure for so long instead of what the workload says.")
  private @Nullable Double duration;

  @Option(
      names = "--break",
      paramLabel = "FAULT",
      description =
          "Break the deliveries on purpose, to see the check notice it: drop:N, double:N or swap:N,"
              + " once in N events.")
  private @Nullable String fault;

  @Option(
      names = "--server-jvm",
      paramLabel = "OPTIONS",
      description = "Options of the JVM of a server that runs on one, separated by spaces.")
  private String serverJvm = "";

  /** Applies what was asked for to a workload. */
  Workload apply(Workload w) {
    return w.lasting(seconds(warmUp, w.warmUp()), seconds(duration, w.duration()));
  }

  private static Duration seconds(@Nullable Double seconds, Duration otherwise) {
    return seconds == null ? otherwise : Duration.ofMillis(Math.round(seconds * 1000));
  }

  /** Makes the driver of a name, broken if that was asked for. */
  Driver driver(Drivers drivers, String name) {
    Driver driver = drivers.create(name, words(serverJvm));
    return fault == null ? driver : new FaultyDriver(driver, Fault.parse(fault));
  }

  /** Returns the arguments that give another JVM the same options. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    add(arguments, "--warm-up", warmUp);
    add(arguments, "--duration", duration);
    add(arguments, "--break", fault);
    add(arguments, "--server-jvm", serverJvm.isEmpty() ? null : serverJvm);
    return arguments;
  }

  private static void add(List<String> arguments, String name, @Nullable Object value) {
    if (value != null) {
      arguments.add(name + "=" + value);
    }
  }

  static List<String> words(String text) {
    return text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
  }
}
