package io.eventbus.loadtest.switching.report;

import io.eventbus.loadtest.report.Chapter;
import io.eventbus.loadtest.report.Section;
import io.eventbus.loadtest.report.SpeedTarget;
import io.eventbus.loadtest.report.TextTable;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.switching.run.Spread;
import io.eventbus.loadtest.switching.run.SwitchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The tables for the terminal and the page. */
public final class SwitchTable {
  private static final int TEXT_COLUMNS = 1;
  private static final int TARGET_TEXTS = 2;
  private static final double MICROS = 1_000;

  private SwitchTable() {}

  /** Writes all tables. */
  public static String of(SwitchReport report) {
    StringBuilder out = new StringBuilder();
    for (Section section : sections(report)) {
      out.append('\n').append(section.title()).append("\n\n");
      TextTable.write(out, section.rows(), section.textColumns());
    }
    for (SwitchResult result : report.results()) {
      result
          .stayed()
          .forEach(
              (why, times) ->
                  out.append(result.experiment())
                      .append(": stayed ")
                      .append(times)
                      .append(" times: ")
                      .append(why)
                      .append('\n'));
      if (result.problem() != null) {
        out.append(result.experiment()).append(" failed: ").append(result.problem()).append('\n');
      }
    }
    out.append("eventbus ").append(report.version()).append("; ").append(report.machine());
    return out.append('\n').toString();
  }

  /** Puts everything together for a document. */
  public static Chapter chapter(SwitchReport report) {
    return new Chapter(
        "Clients that change the bus",
        report.startedAt(),
        report.command(),
        report.machine(),
        "eventbus " + report.version(),
        report.results().stream()
            .filter(r -> r.problem() != null)
            .map(r -> r.experiment() + " failed: " + r.problem())
            .toList(),
        figures(report),
        report.targets());
  }

  static List<Section> sections(SwitchReport report) {
    List<Section> sections = new ArrayList<>(figures(report));
    sections.add(new Section("Targets", targets(report), TARGET_TEXTS));
    return sections;
  }

  private static List<Section> figures(SwitchReport report) {
    List<Section> sections = new ArrayList<>();
    sections.addAll(
        List.of(
            new Section("Times, ms: p50 / p99 / longest", times(report), TEXT_COLUMNS),
            new Section(
                "Latency of events, ms: p50 / p99 / longest", latencies(report), TEXT_COLUMNS),
            new Section("Events and clients", counts(report), TEXT_COLUMNS)));
    if (report.results().stream().anyMatch(SwitchTable::isOfPaper)) {
      sections.add(new Section("Figures of the paper, ms", paper(report), TEXT_COLUMNS));
    }
    return sections;
  }

  private static List<List<String>> times(SwitchReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "experiment",
            "changes",
            "until there",
            "pause",
            "pause of others",
            "pause without a change",
            "whole round"));
    for (SwitchResult r : report.results()) {
      rows.add(
          List.of(
              r.experiment(),
              Integer.toString(r.changes()),
              spread(r.switching()),
              spread(r.pauses()),
              spread(r.others()),
              spread(r.still()),
              spread(r.rounds())));
    }
    return rows;
  }

  private static List<List<String>> latencies(SwitchReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("experiment", "before", "during", "after"));
    for (SwitchResult r : report.results()) {
      rows.add(
          List.of(r.experiment(), latency(r.before()), latency(r.during()), latency(r.after())));
    }
    return rows;
  }

  private static List<List<String>> counts(SwitchReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "experiment",
            "lost/doubled/reordered",
            "lost with a killed bus",
            "asked and stayed",
            "disconnected"));
    for (SwitchResult r : report.results()) {
      rows.add(
          List.of(
              r.experiment(),
              r.integrity().toString(),
              Long.toString(r.allowedLost()),
              Long.toString(r.stayed().values().stream().mapToLong(Long::longValue).sum()),
              Long.toString(r.disconnects())));
    }
    return rows;
  }

  private static boolean isOfPaper(SwitchResult result) {
    return result.experiment().startsWith("one-");
  }

  /** Gopalasetty and Jegarkal: the mean of three switches, and the latency after them. */
  private static List<List<String>> paper(SwitchReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("mean", "the paper"));
    List<String> switching = new ArrayList<>(List.of("switch to another bus", "30.33"));
    List<String> after = new ArrayList<>(List.of("latency after the switch", "17.66"));
    for (SwitchResult r : report.results()) {
      if (isOfPaper(r)) {
        head.add(r.experiment());
        switching.add(
            millis(
                r.switching().millis().stream()
                    .mapToDouble(Double::doubleValue)
                    .average()
                    .orElse(-1)));
        after.add(r.after().count() == 0 ? "" : millis(r.after().mean() / MICROS));
      }
    }
    rows.add(head);
    rows.add(switching);
    rows.add(after);
    return rows;
  }

  private static List<List<String>> targets(SwitchReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("target", "measured", "verdict"));
    for (SpeedTarget target : report.targets()) {
      if (target.verdict() != SpeedTarget.Verdict.NOT_MEASURED) {
        rows.add(List.of(target.goal(), target.figure(), target.verdict().toString()));
      }
    }
    return rows;
  }

  private static String spread(Spread spread) {
    return spread.millis().isEmpty()
        ? ""
        : millis(spread.at(50)) + " / " + millis(spread.at(99)) + " / " + millis(spread.at(100));
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

  static String millis(double millis) {
    if (millis < 0) {
      return "?";
    }
    String format = millis >= 100 ? "%,.0f" : millis >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, millis);
  }
}
