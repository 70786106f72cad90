package io.eventbus.loadtest;

import io.eventbus.loadtest.attack.run.AttackPlan;
import io.eventbus.loadtest.attack.run.BusSpec;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which bus is attacked, and how. */
final class AttackOptions {
  @Option(names = "--jar", description = "The jar of the bus (default: ${DEFAULT-VALUE}).")
  private Path jar = Path.of("eventbus-server", "target", "eventbus.jar");

  @Option(
      names = "--java-home",
      paramLabel = "DIRECTORY",
      description = "The JDK that runs the bus (default: the one that runs this).")
  private @Nullable Path javaHome;

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      description = "The largest heap of the bus (default: ${DEFAULT-VALUE}).")
  private String heap = "256m";

  @Option(names = "--pairs", description = "Honest pairs (default: ${DEFAULT-VALUE}).")
  private int pairs = 2;

  @Option(
      names = "--quiet",
      paramLabel = "SECONDS",
      description =
          "How long the warm-up lasts, and the quiet phase after it (default: ${DEFAULT-VALUE}).")
  private int quiet = 3;

  @Option(
      names = "--seconds",
      description =
          "How long each attack lasts; some last longer, because they show nothing in less (default:"
              + " ${DEFAULT-VALUE}).")
  private int seconds = 15;

  @Option(names = "--rounds", description = "How often each is run (default: ${DEFAULT-VALUE}).")
  private int rounds = 1;

  @Option(
      names = "--sources",
      paramLabel = "N",
      description =
          "Attackers connect from 127.0.0.2 and so many addresses in turn; 0 for 127.0.0.1, as the"
              + " honest pairs do (default: ${DEFAULT-VALUE}).")
  private int sources = 1;

  @Option(
      names = "--nice",
      paramLabel = "N",
      description =
          "The nice value of the attackers' process, 0 to 19: with 19 it takes processor time that"
              + " the bus leaves, as if it ran on a machine of its own (default: ${DEFAULT-VALUE}).")
  private int nice;

  @Option(
      names = "--option",
      paramLabel = "NAME=NUMBER",
      description = "Sets a figure of the attacks that know it, see attack list.")
  private Map<String, Long> options = new LinkedHashMap<>();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Configuration of the bus, for example limits.memory-bytes=64MiB.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(names = "--json", paramLabel = "FILE", description = "Takes the results.")
  private @Nullable Path json;

  /**
   * Says which bus.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  BusSpec bus() {
    Path home = javaHome == null ? Path.of(System.getProperty("java.home")) : javaHome;
    return new BusSpec(jar, home, heap, settings);
  }

  /**
   * Returns how.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  AttackPlan plan() {
    return new AttackPlan(pairs, quiet, seconds, sources, nice, options);
  }

  int rounds() {
    return rounds;
  }

  @Nullable Path json() {
    return json;
  }
}
