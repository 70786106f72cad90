package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The table for the terminal: a line for each workload and driver. */
public final class ResultTable {
  private static final List<String> HEAD =
      List.of(
          "workload",
          "driver",
          "runs",
          "deliveries/s",
          "(range)",
          "p50 µs",
          "p99 µs",
          "p99.9 µs",
          "server µs/d",
          "client µs/d",
          "RSS MiB",
          "lost/doubled/reordered");
  private static final String LEGEND =
      "µs/d: microseconds of CPU time for one delivery; client: publishers and subscribers";
  private static final String FEDERATION = "The figures of the paper on broker federation";
  private static final String DURABLE =
      "Durable topics: events that were confirmed, read (replay) or delivered (tail)";
  private static final int TEXT_COLUMNS = 2;
  private static final int ALL_COLUMNS = Integer.MAX_VALUE;

  private ResultTable() {}

  /** Writes the table. */
  public static String of(Report report) {
    StringBuilder out = new StringBuilder();
    List<List<String>> rows = medians(report);
    if (rows.size() > 1) {
      TextTable.write(out, rows, TEXT_COLUMNS);
    }
    report
        .absent()
        .forEach(
            absent ->
                out.append(absent.driver())
                    .append(": absent: ")
                    .append(absent.reason())
                    .append('\n'));
    report.results().stream()
        .filter(result -> result.problem() != null)
        .forEach(result -> out.append(failed(result)).append('\n'));
    if (!report.unfinished().isEmpty()) {
      out.append(report.unfinished()).append('\n');
    }
    out.append(LEGEND).append('\n');
    out.append(String.join(", ", report.systems())).append("; ");
    out.append(report.machine()).append('\n');
    for (Section section : sections(report)) {
      section(out, section);
    }
    section(out, new Section("Targets", measuredTargets(report), ALL_COLUMNS));
    return out.toString();
  }

  private static void section(StringBuilder out, Section section) {
    if (section.rows().size() > 1) {
      out.append('\n').append(section.title()).append("\n\n");
      TextTable.write(out, section.rows(), section.textColumns());
    }
  }

  /** Puts everything together for a document. */
  public static Chapter chapter(Report report) {
    List<Section> sections = new ArrayList<>();
    sections.add(new Section("Medians of the runs", medians(report), TEXT_COLUMNS));
    sections.addAll(sections(report));
    List<String> remarks = new ArrayList<>(List.of(LEGEND + "."));
    if (!report.unfinished().isEmpty()) {
      remarks.add(report.unfinished());
    }
    report.results().stream().filter(r -> r.problem() != null).forEach(r -> remarks.add(failed(r)));
    return new Chapter(
        "Workloads",
        report.startedAt(),
        report.command(),
        report.machine(),
        report.systems(),
        remarks,
        sections,
        report.targets());
  }

  private static List<List<String>> medians(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEAD);
    report.summaries().stream()
        .filter(summary -> summary.idleConnectsPerSecond() < 0)
        .filter(summary -> !report.hasCalls(summary.workload()))
        .filter(summary -> !report.hasRegisters(summary.workload()))
        .filter(summary -> !report.hasMoves(summary.workload()))
        .filter(summary -> !report.hasDurable(summary.workload()))
        .forEach(summary -> rows.add(row(summary)));
    return rows;
  }

  /** The tables of single kinds of workloads; those that were not run have a head only. */
  static List<Section> sections(Report report) {
    List<Section> sections = new ArrayList<>(MoveTable.sections(report));
    sections.addAll(workloadSections(report));
    return sections;
  }

  private static List<Section> workloadSections(Report report) {
    return List.of(
        new Section(DURABLE, durable(report), TEXT_COLUMNS),
        new Section("Calls", calls(report), TEXT_COLUMNS),
        new Section("Registers", RegisterTable.rows(report), TEXT_COLUMNS),
        new Section("Attempts that failed and were repeated", RegisterTable.attempts(report), 3),
        new Section("The bus and the older one", Baseline.rows(report), TEXT_COLUMNS),
        new Section("Idle connections", idle(report), TEXT_COLUMNS),
        new Section("The paper's figures", PaperTable.rows(report), 1),
        new Section(FEDERATION, FederationTable.rows(report), TEXT_COLUMNS));
  }

  private static List<List<String>> durable(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "workload",
            "driver",
            "runs",
            "events/s",
            "(range)",
            "p50 µs",
            "p99 µs",
            "server µs/event",
            "client µs/event",
            "RSS MiB",
            "lost/doubled/reordered"));
    report.summaries().stream()
        .filter(summary -> report.hasDurable(summary.workload()))
        .forEach(
            s ->
                rows.add(
                    List.of(
                        s.workload(),
                        s.driver(),
                        runs(s),
                        Figures.rate(s.deliveredPerSecond()),
                        range(s),
                        s.p50() == 0 ? "" : Figures.micros(s.p50()),
                        s.p99() == 0 ? "" : Figures.micros(s.p99()),
                        Figures.micros(s.serverCpuMicros()),
                        Figures.micros(s.clientCpuMicros()),
                        Figures.mebibytes(s.serverRssBytes()),
                        s.verdict())));
    return rows;
  }

  private static List<List<String>> calls(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "workload",
            "driver",
            "runs",
            "calls/s",
            "(range)",
            "p50 µs",
            "p99 µs",
            "server µs/call",
            "clients µs/call",
            "failed",
            "doubled",
            "foreign"));
    report.summaries().stream()
        .filter(summary -> report.hasCalls(summary.workload()))
        .forEach(
            s ->
                rows.add(
                    List.of(
                        s.workload(),
                        s.driver(),
                        runs(s),
                        Figures.rate(s.deliveredPerSecond()),
                        range(s),
                        Figures.micros(s.p50()),
                        Figures.micros(s.p99()),
                        Figures.micros(s.serverCpuMicros()),
                        Figures.micros(s.clientCpuMicros()),
                        Long.toString(s.integrity().lost()),
                        Long.toString(s.integrity().doubled()),
                        Long.toString(s.integrity().foreign()))));
    return rows;
  }

  static String runs(Summary summary) {
    return summary.failed() == 0
        ? Integer.toString(summary.runs())
        : summary.runs() + " of " + (summary.runs() + summary.failed());
  }

  static String range(Summary summary) {
    return summary.runs() < 2
        ? ""
        : Figures.rate(summary.deliveredLeast()) + "-" + Figures.rate(summary.deliveredMost());
  }

  static List<List<String>> idle(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of("workload", "driver", "connects/s", "RSS KiB each", "server RSS MiB", "closed"));
    report.summaries().stream()
        .filter(summary -> summary.idleConnectsPerSecond() >= 0)
        .forEach(
            s ->
                rows.add(
                    List.of(
                        s.workload(),
                        s.driver(),
                        Figures.rate(s.idleConnectsPerSecond()),
                        Figures.kibibytes(s.idleRssBytes()),
                        Figures.mebibytes(s.serverRssBytes()),
                        Long.toString(s.integrity().lost()))));
    return rows;
  }

  /** Writes the targets of which something was measured: rows of cells, the first one the head. */
  static List<List<String>> measuredTargets(Report report) {
    return targets(report, target -> target.verdict() != SpeedTarget.Verdict.NOT_MEASURED);
  }

  /** Writes the others, likewise. */
  static List<List<String>> otherTargets(Report report) {
    return targets(report, target -> target.verdict() == SpeedTarget.Verdict.NOT_MEASURED);
  }

  private static List<List<String>> targets(Report report, Predicate<SpeedTarget> which) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("target", "measured", "verdict"));
    report.targets().stream()
        .filter(which)
        .forEach(t -> rows.add(List.of(t.goal(), t.figure(), t.verdict().toString())));
    return rows;
  }

  private static String failed(RunResult result) {
    return String.format(
        "%s, %s, run %d failed: %s",
        result.workload(), result.driver(), result.run(), result.problem());
  }

  private static List<String> row(Summary summary) {
    return List.of(
        summary.workload(),
        summary.driver(),
        runs(summary),
        Figures.rate(summary.deliveredPerSecond()),
        range(summary),
        Figures.micros(summary.p50()),
        Figures.micros(summary.p99()),
        Figures.micros(summary.p999()),
        Figures.micros(summary.serverCpuMicros()),
        Figures.micros(summary.clientCpuMicros()),
        Figures.mebibytes(summary.serverRssBytes()),
        summary.verdict());
  }
}
