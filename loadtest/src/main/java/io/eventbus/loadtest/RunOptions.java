package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.Fault;
import io.eventbus.loadtest.driver.FaultyDriver;
import io.eventbus.loadtest.driver.eventbus.EventBusDriver;
import io.eventbus.loadtest.report.Baseline;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that a run has, whether it is made here or in a JVM of its own. */
final class RunOptions {
  // As a workload has them, in seconds.
  private static final double MAX_WARM_UP = 3_600;
  private static final double MIN_DURATION = 0.001;
  private static final double MAX_DURATION = 86_400;

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

  @Option(
      names = "--jar",
      paramLabel = "FILE",
      description = "The jar of the bus (default: the bus in this one).")
  private @Nullable Path jar;

  @Option(
      names = "--baseline",
      paramLabel = "FILE",
      description =
          "The jar of an older bus, which takes turns with the bus: once against it, and once"
              + " more to show how far two runs of the same differ. At least seven runs each.")
  private @Nullable Path baseline;

  @Option(
      names = "--data",
      paramLabel = "DIRECTORY",
      description =
          "Where servers store the events of durable topics, on the disk that is to be measured;"
              + " emptied at the end (default: a temporary directory).")
  private @Nullable Path data;

  /**
   * Looks at what was asked for before anything runs.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  void check() {
    warmUp(Duration.ZERO);
    duration(Duration.ZERO);
    if (fault != null) {
      Fault.parse(fault);
    }
    isFile("--jar", jar);
    isFile("--baseline", baseline);
  }

  private static void isFile(String name, @Nullable Path file) {
    if (file != null && !Files.isRegularFile(file)) {
      throw new IllegalArgumentException(name + ": " + file + " (expected: a file)");
    }
  }

  /** Returns whether an older bus takes part. */
  boolean hasBaseline() {
    return baseline != null;
  }

  /** Applies what was asked for to a workload. */
  Workload apply(Workload w) {
    Workload lasting = w.lasting(warmUp(w.warmUp()), duration(w.duration()));
    return data == null ? lasting : lasting.storing(data.toAbsolutePath().toString());
  }

  private Duration warmUp(Duration otherwise) {
    return warmUp == null ? otherwise : Seconds.of("--warm-up", warmUp, 0, MAX_WARM_UP);
  }

  private Duration duration(Duration otherwise) {
    return duration == null
        ? otherwise
        : Seconds.of("--duration", duration, MIN_DURATION, MAX_DURATION);
  }

  /** Creates the driver of a name, broken if that was asked for. */
  Driver driver(Drivers drivers, String name) {
    boolean old = name.equals(Baseline.OLD) || name.equals(Baseline.OLD_AGAIN);
    @Nullable Path of = old ? baseline : name.equals(Baseline.NEW) ? jar : null;
    Driver driver =
        of == null
            ? drivers.create(name, words(serverJvm))
            : new EventBusDriver(name, of, words(serverJvm));
    return fault == null ? driver : new FaultyDriver(driver, Fault.parse(fault));
  }

  /** Returns the arguments that give another JVM the same options. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    add(arguments, "--warm-up", warmUp);
    add(arguments, "--duration", duration);
    add(arguments, "--break", fault);
    add(arguments, "--server-jvm", serverJvm.isEmpty() ? null : serverJvm);
    add(arguments, "--jar", jar);
    add(arguments, "--baseline", baseline);
    add(arguments, "--data", data);
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
