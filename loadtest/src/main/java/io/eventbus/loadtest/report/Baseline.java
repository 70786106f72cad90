package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Compares a bus with an older one, pair by pair: the runs of one number follow each other, so that
 * the machine is the same for them. The older one runs twice in each round, and how far these two
 * differ says what a difference is worth.
 */
public final class Baseline {
  /** The name of the bus in the results. */
  public static final String NEW = "eventbus";

  /** The name of the older one. */
  public static final String OLD = "eventbus-old";

  /** The name of the older one that is compared with the older one. */
  public static final String OLD_AGAIN = "eventbus-old-again";

  /** Fewer pairs have no verdict. */
  public static final int MIN_PAIRS = 7;

  private static final double TOLERANCE = 0.02;

  private Baseline() {}

  /** A figure that is compared; {@code more} says whether more of it is better. */
  private record Figure(String name, boolean more, ToDoubleFunction<RunResult> of) {}

  private static final List<Figure> FIGURES =
      List.of(
          new Figure("per second", true, RunResult::deliveredPerSecond),
          new Figure("p50", false, r -> r.latency().p50()),
          new Figure("p99", false, r -> r.latency().p99()),
          new Figure("server CPU each", false, RunResult::serverCpuMicrosPerDelivery));

  /** Quartiles of ratios. */
  private record Quartiles(double low, double median, double high) {
    static Quartiles of(double[] ratios) {
      double[] sorted = ratios.clone();
      Arrays.sort(sorted);
      return new Quartiles(at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
    }

    private static double at(double[] sorted, double part) {
      double place = part * (sorted.length - 1);
      int below = (int) place;
      int above = Math.min(below + 1, sorted.length - 1);
      return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%.3f (%.3f-%.3f)", median, low, high);
    }
  }

  /** Writes the table: a head, and a row for each workload and figure. */
  static List<List<String>> rows(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "workload",
            "figure",
            "pairs",
            "old",
            "new",
            "new : old (quartiles)",
            "old : old (quartiles)",
            "verdict"));
    report.workloads().forEach(w -> FIGURES.forEach(f -> row(report, w.name(), f, rows)));
    return rows;
  }

  private static void row(Report report, String workload, Figure figure, List<List<String>> rows) {
    List<double[]> pairs = new ArrayList<>();
    int runs = report.results().stream().mapToInt(RunResult::run).max().orElse(0);
    for (int run = 1; run <= runs; run++) {
      double[] values = {
        value(report, workload, NEW, run, figure),
        value(report, workload, OLD, run, figure),
        value(report, workload, OLD_AGAIN, run, figure)
      };
      if (Arrays.stream(values).allMatch(v -> v > 0)) {
        pairs.add(values);
      }
    }
    if (!pairs.isEmpty()) {
      Quartiles ofNew = Quartiles.of(column(pairs, 0, 1));
      Quartiles ofOld = Quartiles.of(column(pairs, 2, 1));
      rows.add(
          List.of(
              workload,
              figure.name(),
              Integer.toString(pairs.size()),
              shown(figure, pairs, 1),
              shown(figure, pairs, 0),
              ofNew.toString(),
              ofOld.toString(),
              verdict(figure, pairs.size(), ofNew, ofOld)));
    }
  }

  private static double value(
      Report report, String workload, String driver, int run, Figure figure) {
    Optional<RunResult> found =
        report.results().stream()
            .filter(r -> r.workload().equals(workload) && r.driver().equals(driver))
            .filter(r -> r.run() == run && r.problem() == null)
            .findFirst();
    return found.map(r -> figure.of().applyAsDouble(r)).orElse(-1.0);
  }

  private static double[] column(List<double[]> pairs, int of, int by) {
    return pairs.stream().mapToDouble(p -> p[of] / p[by]).toArray();
  }

  private static String shown(Figure figure, List<double[]> pairs, int which) {
    double median =
        Quartiles.of(
                IntStream.range(0, pairs.size()).mapToDouble(i -> pairs.get(i)[which]).toArray())
            .median();
    return figure.more() ? Figures.rate(median) : Figures.micros(median) + " µs";
  }

  /** At most 2 % worse, or not worse than half of what two runs of the same differ by. */
  private static String verdict(Figure figure, int pairs, Quartiles ofNew, Quartiles ofOld) {
    if (pairs < MIN_PAIRS) {
      return "none: fewer than " + MIN_PAIRS + " pairs";
    }
    boolean holds =
        figure.more()
            ? ofNew.median() >= Math.min(1 - TOLERANCE, ofOld.low())
            : ofNew.median() <= Math.max(1 + TOLERANCE, ofOld.high());
    return holds ? "not slower" : "SLOWER";
  }
}
