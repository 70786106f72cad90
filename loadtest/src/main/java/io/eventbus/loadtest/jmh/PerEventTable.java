package io.eventbus.loadtest.jmh;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.Main;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/** Runs benchmarks and shows, below JMH's own table, what each costs for one event. */
public final class PerEventTable {
  private static final Set<String> ONLY_TELL = Set.of("-h", "-l", "-lp", "-lprof", "-lrf");
  private static final String ALLOCATED = "gc.alloc.rate.norm";
  private static final String BATCH = "batch";

  private PerEventTable() {}

  /**
   * Runs benchmarks.
   *
   * @return the table; empty when the arguments only ask JMH for information
   * @throws Exception if the arguments are wrong or a benchmark fails
   */
  public static String run(List<String> arguments) throws Exception {
    String[] array = arguments.toArray(new String[0]);
    if (arguments.stream().anyMatch(ONLY_TELL::contains)) {
      Main.main(array);
      return "";
    }
    try {
      return table(new Runner(new CommandLineOptions(array)).run());
    } catch (CommandLineOptionException | RunnerException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static String table(Collection<RunResult> results) {
    StringBuilder out = new StringBuilder("\nFor one event:\n");
    for (RunResult result : results) {
      @Nullable String batch = result.getParams().getParam(BATCH);
      double events = batch == null ? 1 : Double.parseDouble(batch);
      String name = result.getParams().getBenchmark();
      out.append(
          String.format(
              Locale.ROOT,
              "  %-44s %-44s %12.1f ns",
              name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1),
              parameters(result),
              result.getPrimaryResult().getScore() / events));
      result
          .getSecondaryResults()
          .forEach(
              (label, value) -> {
                if (label.endsWith(ALLOCATED)) {
                  out.append(String.format(Locale.ROOT, " %12.3f B", value.getScore() / events));
                }
              });
      out.append('\n');
    }
    return out.toString();
  }

  private static String parameters(RunResult result) {
    return result.getParams().getParamsKeys().stream()
        .map(key -> key + "=" + result.getParams().getParam(key))
        .collect(Collectors.joining(" "));
  }
}
