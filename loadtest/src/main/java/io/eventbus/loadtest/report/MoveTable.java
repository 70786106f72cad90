package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.MoveFigures;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Tables and targets of experiments in which clients move from bus to bus. */
final class MoveTable {
  private static final double MICROS = 1_000;
  private static final double LONGEST = 100;
  private static final String FAMILY = "switch/";

  private MoveTable() {}

  private static List<RunResult> results(Report report) {
    return report.results().stream().filter(r -> r.moves() != null).toList();
  }

  /** Returns rows of cells with a line for each experiment, the first one the head. */
  private static List<List<String>> rows(
      Report report, List<String> head, BiFunction<RunResult, MoveFigures, List<String>> cells) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(head);
    for (RunResult result : results(report)) {
      List<String> row = new ArrayList<>(List.of(result.workload()));
      row.addAll(cells.apply(result, Objects.requireNonNull(result.moves())));
      rows.add(row);
    }
    return rows;
  }

  /** Returns the tables; those without an experiment have a head only. */
  static List<Section> sections(Report report) {
    return List.of(
        new Section("Moves, ms: p50 / p99 / longest", times(report), 1),
        new Section(
            "Latency of events beside moves, ms: p50 / p99 / longest", latencies(report), 1),
        new Section("Events and clients that moved", counts(report), 1),
        new Section("Clients that stayed", stayed(report), 2),
        new Section("The paper's figures of moves, ms", paper(report), 1));
  }

  private static List<List<String>> times(Report report) {
    return rows(
        report,
        List.of(
            "experiment",
            "moves",
            "until there",
            "pause",
            "pause of others",
            "pause without a move",
            "whole round"),
        (result, m) ->
            List.of(
                Integer.toString(m.moves()),
                spread(m.arrivals()),
                spread(m.pauses()),
                spread(m.others()),
                spread(m.still()),
                spread(m.rounds())));
  }

  private static List<List<String>> latencies(Report report) {
    return rows(
        report,
        List.of("experiment", "before", "during", "after"),
        (result, m) -> List.of(latency(m.before()), latency(result.latency()), latency(m.after())));
  }

  private static List<List<String>> counts(Report report) {
    return rows(
        report,
        List.of(
            "experiment",
            "lost/doubled/reordered",
            "lost with a killed bus",
            "asked and stayed",
            "disconnected"),
        (result, m) ->
            List.of(
                result.integrity().toString(),
                Long.toString(result.allowedLost()),
                Long.toString(m.stayed().values().stream().mapToLong(Long::longValue).sum()),
                Long.toString(m.disconnects())));
  }

  private static List<List<String>> stayed(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("experiment", "reason", "times"));
    for (RunResult result : results(report)) {
      Map<String, Long> stayed = Objects.requireNonNull(result.moves()).stayed();
      stayed.forEach((why, times) -> rows.add(List.of(result.workload(), why, times.toString())));
    }
    return rows;
  }

  /** Gopalasetty and Jegarkal: the mean of three switches, and the latency after them. */
  private static List<List<String>> paper(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of("experiment", "mean until there", "the paper", "latency after it", "the paper"));
    for (RunResult result : results(report)) {
      MoveFigures moves = Objects.requireNonNull(result.moves());
      if (result.workload().startsWith(FAMILY + "one-")) {
        double mean =
            moves.arrivals().millis().stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(-1);
        String after = moves.after().count() == 0 ? "" : millis(moves.after().mean() / MICROS);
        rows.add(List.of(result.workload(), millis(mean), "30.33", after, "17.66"));
      }
    }
    return rows;
  }

  /** Returns a line for each target of what a move may cost; none if nothing was moved. */
  static List<SpeedTarget> targets(Report report) {
    List<SpeedTarget> targets = new ArrayList<>();
    List<RunResult> results =
        report.results().stream().filter(r -> r.workload().startsWith(FAMILY)).toList();
    if (results.isEmpty()) {
      return targets;
    }
    for (String one : List.of("one-subscriber", "one-publisher")) {
      targets.add(atMost(results, one, "pause", MoveFigures::pauses, 50, 5));
      targets.add(atMost(results, one, "pause", MoveFigures::pauses, 99, 25));
    }
    targets.add(atMost(results, "drain", "all clients gone", MoveFigures::rounds, LONGEST, 10_000));
    targets.add(atMost(results, "drain", "pause", MoveFigures::pauses, LONGEST, 250));
    targets.add(
        atMost(results, "kill", "clients served elsewhere", MoveFigures::arrivals, 99, 3_000));
    results.forEach(result -> targets.add(integrity(result)));
    return targets;
  }

  private static SpeedTarget atMost(
      List<RunResult> results,
      String experiment,
      String what,
      Function<MoveFigures, Spread> figure,
      double percent,
      double max) {
    String rank = percent == LONGEST ? "longest" : String.format(Locale.ROOT, "p%.0f", percent);
    String goal =
        String.format(Locale.ROOT, "%s%s: %s, %s <= %,.0f ms", FAMILY, experiment, what, rank, max);
    Optional<Spread> found =
        results.stream()
            .filter(result -> result.workload().equals(FAMILY + experiment))
            .map(RunResult::moves)
            .filter(Objects::nonNull)
            .map(figure)
            .filter(spread -> !spread.millis().isEmpty())
            .findFirst();
    if (found.isEmpty()) {
      return SpeedTarget.notMeasured(goal, "no figure");
    }
    double value = found.get().at(percent);
    return SpeedTarget.of(
        goal, millis(value) + " ms of " + found.get().millis().size(), value <= max);
  }

  private static SpeedTarget integrity(RunResult result) {
    boolean kill = result.workload().equals(FAMILY + "kill");
    long disconnects = result.moves() == null ? 0 : result.moves().disconnects();
    return SpeedTarget.of(
        result.workload()
            + (kill
                ? ": 0/0/0 from publishers elsewhere to subscribers elsewhere"
                : ": 0/0/0, nobody disconnected"),
        result.integrity()
            + (kill
                ? ", " + result.allowedLost() + " lost with the killed buses"
                : ", " + disconnects + " disconnected"),
        result.integrity().whole() && result.problem() == null && (kill || disconnects == 0));
  }

  /** Draws how many clients waited how long. */
  static String chart(MoveFigures moves) {
    LineChart chart = new LineChart("Waits", "per cent that waited no longer (ms)");
    line(chart, 0, "until there", moves.arrivals());
    line(chart, 1, "pause", moves.pauses());
    line(chart, 2, "pause of others", moves.others());
    line(chart, 3, "pause without a move", moves.still());
    return chart.draw();
  }

  private static void line(LineChart chart, int colour, String name, Spread spread) {
    int count = spread.millis().size();
    List<LineChart.Point> points = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      points.add(new LineChart.Point(LONGEST * (i + 1) / count, spread.millis().get(i)));
    }
    chart.line(colour, name, points);
  }

  private static String spread(Spread spread) {
    return spread.millis().isEmpty()
        ? ""
        : millis(spread.at(50))
            + " / "
            + millis(spread.at(99))
            + " / "
            + millis(spread.at(LONGEST));
  }

  private static String latency(LatencySummary latency) {
    return latency.count() == 0
        ? ""
        : millis(latency.p50() / MICROS)
            + " / "
            + millis(latency.p99() / MICROS)
            + " / "
            + millis(latency.max() / MICROS);
  }

  private static String millis(double millis) {
    return Figures.millis(millis);
  }
}
