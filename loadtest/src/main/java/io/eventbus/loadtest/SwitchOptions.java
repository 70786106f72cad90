package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Fault;
import io.eventbus.loadtest.switching.run.SwitchPlan;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of {@link SwitchCommand}. */
final class SwitchOptions {
  private static final double MAX_SECONDS = 3_600;

  @Option(
      names = "--moves",
      description =
          "one: how often the subscriber and the publisher move (default: ${DEFAULT-VALUE}).")
  private int moves = 100;

  @Option(names = "--rate", description = "one: events per second (default: ${DEFAULT-VALUE}).")
  private int rate = 2_000;

  @Option(
      names = "--rounds",
      description = "hot-topic, drain: how often all clients move (default: ${DEFAULT-VALUE}).")
  private int rounds = 4;

  @Option(
      names = "--hot-subscribers",
      description = "hot-topic: subscribers (default: ${DEFAULT-VALUE}).")
  private int hotSubscribers = 100;

  @Option(
      names = "--clients",
      description = "drain: publishers and subscribers (default: ${DEFAULT-VALUE}).")
  private int clients = 1_000;

  @Option(
      names = "--members",
      description =
          "rolling-restart, kill: publishers and subscribers (default: ${DEFAULT-VALUE}).")
  private int members = 300;

  @Option(
      names = "--kills",
      description = "kill: how often a bus is killed (default: ${DEFAULT-VALUE}).")
  private int kills = 10;

  @Option(
      names = "--client-rate",
      description =
          "Events per second of each publisher where there are many subscribers, ten times as many of"
              + " that of hot-topic (default: ${DEFAULT-VALUE}).")
  private int clientRate = 20;

  @Option(
      names = "--payload",
      paramLabel = "BYTES",
      description = "Size of an event (default: ${DEFAULT-VALUE}).")
  private int payload = 128;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "How long events flow before anything is asked (default: ${DEFAULT-VALUE}).")
  private double warmUp = 15;

  @Option(
      names = "--warm-up-moves",
      description =
          "one: moves at the beginning that do not count; unless it is 0, hot-topic and drain move"
              + " all clients there and back before they count (default: ${DEFAULT-VALUE}).")
  private int warmUpMoves = 48;

  @Option(
      names = "--break",
      paramLabel = "FAULT",
      description =
          "Break the deliveries on purpose, to see the check notice it: drop:N, double:N or swap:N,"
              + " once in N events of each subscriber.")
  private @Nullable String fault;

  @Option(
      names = "--server-jvm",
      paramLabel = "OPTIONS",
      description =
          "Options of the JVM of each bus, separated by spaces (default: ${DEFAULT-VALUE}).")
  private String serverJvm = "-Xmx512m";

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Configuration of the buses, for example balance.moves-per-second=500.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--output",
      paramLabel = "DIRECTORY",
      description = "Takes results.json and report.html (default: ${DEFAULT-VALUE}).")
  private Path output = Path.of("results");

  /**
   * Puts the plan together.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  SwitchPlan plan() {
    return new SwitchPlan(
        moves,
        rate,
        rounds,
        hotSubscribers,
        clients,
        members,
        kills,
        clientRate,
        payload,
        Seconds.of("--warm-up", warmUp, 0, MAX_SECONDS),
        warmUpMoves,
        fault == null ? null : Fault.parse(fault));
  }

  List<String> serverJvm() {
    return RunOptions.words(serverJvm);
  }

  Map<String, String> settings() {
    return settings;
  }

  Path output() {
    return output;
  }
}
