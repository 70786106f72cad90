package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.Experiment;
import io.eventbus.loadtest.coordination.run.Findings;
import io.eventbus.loadtest.coordination.run.FleetResult;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The tables, for the terminal and for the page. */
public final class CoordinationTable {
  /** This product's registry. */
  static final String OWN = "eventbus";

  private static final double MILLI = 1_000;

  private CoordinationTable() {}

  /** A table with its title; the first row is the head. */
  record Section(String title, List<List<String>> rows) {}

  /**
   * Writes all tables.
   *
   * @param report what was found
   * @return lines of text, each ended
   */
  public static String of(CoordinationReport report) {
    StringBuilder out = new StringBuilder();
    for (Section section : sections(report)) {
      out.append('\n').append(section.title()).append("\n\n");
      TextTable.write(out, section.rows(), 2);
    }
    report.absent().forEach((name, why) -> out.append(name + ": absent: " + why + '\n'));
    report.problems().forEach(problem -> out.append("failed: " + problem + '\n'));
    out.append('\n').append(report.systems()).append("; ").append(report.machine());
    return out.append("; data on ").append(report.disk()).append('\n').toString();
  }

  static List<Section> sections(CoordinationReport report) {
    List<Section> sections = new ArrayList<>();
    List<Group> groups = report.groups();
    add(sections, "Closed-loop clients", cells(groups, Experiment.TABLE, false));
    add(sections, "Pipelined clients", cells(groups, Experiment.PIPELINED, false));
    add(
        sections,
        "Transactions: read a list, change it, write it back if it is unchanged",
        cells(groups, Experiment.TRANSACTIONS, true));
    add(sections, "Servers killed", failures(groups));
    add(sections, "Leader killed again and again", kills(groups));
    add(sections, "A change is visible on every bus", visibilities(report.visibilities()));
    add(sections, "A bus joins", joins(report.joins()));
    add(
        sections,
        "Warm-up: commands/s in the first, the middle and the last two seconds",
        warm(report));
    add(sections, "What the servers hold, and what they cost between the phases", fleets(report));
    return sections;
  }

  private static void add(List<Section> sections, String title, List<List<String>> rows) {
    if (rows.size() > 1) {
      sections.add(new Section(title, rows));
    }
  }

  private static List<List<String>> cells(
      List<Group> groups, String experiment, boolean conflicts) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "cell",
            "system",
            "per second",
            "(range)",
            "mean ms",
            "p99 ms",
            "longest gap ms",
            "ours to it",
            "server µs/op",
            conflicts ? "conflicts" : "leader changes",
            "errors"));
    for (Group group : groups) {
      if (group.cell().experiment().equals(experiment)) {
        rows.add(
            List.of(
                name(group.cell()),
                group.system(),
                number("%,.0f", group.median(PhaseResult::perSecond)),
                number("%,.0f", group.least(PhaseResult::perSecond))
                    + "-"
                    + number("%,.0f", group.most(PhaseResult::perSecond)),
                number("%.3f", group.median(PhaseResult::meanMillis)),
                number("%.2f", group.median(r -> r.latency().p99() / MILLI)),
                number("%.0f", group.most(PhaseResult::longestGapMillis)),
                ratio(groups, group),
                number("%.0f", group.median(CoordinationTable::serverMicros)),
                Long.toString(
                    group.sum(conflicts ? PhaseResult::conflicts : PhaseResult::leaderChanges)),
                group.errors().toString()));
      }
    }
    return rows;
  }

  private static double serverMicros(PhaseResult r) {
    return r.operations() == 0 || r.serverCpuMicros() < 0
        ? -1
        : (double) r.serverCpuMicros() / r.operations();
  }

  private static String name(Group.Cell cell) {
    return cell.servers()
        + " servers, "
        + cell.clients()
        + (cell.inFlight() > 1 ? " x " + cell.inFlight() : "")
        + " clients";
  }

  /** How many times another system's throughput our own has in the same cell. */
  static String ratio(List<Group> groups, Group other) {
    if (other.system().equals(OWN)) {
      return "";
    }
    Optional<Group> own =
        groups.stream()
            .filter(g -> g.cell().equals(other.cell()) && g.system().equals(OWN))
            .findFirst();
    double theirs = other.median(PhaseResult::perSecond);
    return own.isEmpty() || theirs == 0
        ? ""
        : number("%.2f", own.get().median(PhaseResult::perSecond) / theirs);
  }

  private static List<List<String>> failures(List<Group> groups) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "scenario",
            "system",
            "per second",
            "mean ms",
            "p99 ms",
            "longest gap ms",
            "worst client ms",
            "errors"));
    List<String> other =
        List.of(
            Experiment.TABLE,
            Experiment.PIPELINED,
            Experiment.TRANSACTIONS,
            Experiment.LEADER_KILL);
    for (Group group : groups) {
      if (!other.contains(group.cell().experiment())) {
        rows.add(
            List.of(
                group.cell().experiment() + ", " + name(group.cell()),
                group.system(),
                number("%,.0f", group.median(PhaseResult::perSecond)),
                number("%.3f", group.median(PhaseResult::meanMillis)),
                number("%.2f", group.median(r -> r.latency().p99() / MILLI)),
                number("%.0f", group.most(PhaseResult::longestGapMillis)),
                number("%.0f", group.most(PhaseResult::worstClientMillis)),
                group.errors().toString()));
      }
    }
    return rows;
  }

  private static List<List<String>> kills(List<Group> groups) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "cell",
            "system",
            "kills",
            "no success: p50 ms",
            "p99 ms",
            "longest ms",
            "worst client ms",
            "errors"));
    for (Group group : groups) {
      if (group.cell().experiment().equals(Experiment.LEADER_KILL)) {
        rows.add(
            List.of(
                name(group.cell()),
                group.system(),
                Integer.toString(group.rounds().size()),
                number("%.0f", group.quantile(PhaseResult::longestGapMillis, 0.5)),
                number("%.0f", group.quantile(PhaseResult::longestGapMillis, 0.99)),
                number("%.0f", group.most(PhaseResult::longestGapMillis)),
                number("%.0f", group.most(PhaseResult::worstClientMillis)),
                group.errors().toString()));
      }
    }
    return rows;
  }

  private static List<List<String>> visibilities(List<Findings.Visibility> visibilities) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "buses",
            "system",
            "changes",
            "after the answer: p50 ms",
            "p99 ms",
            "after the request: p50 ms",
            "p99 ms"));
    for (Findings.Visibility v : visibilities) {
      rows.add(
          List.of(
              Integer.toString(v.buses()),
              v.system(),
              Long.toString(v.afterAnswer().count()),
              number("%.2f", v.afterAnswer().p50() / MILLI),
              number("%.2f", v.afterAnswer().p99() / MILLI),
              number("%.2f", v.afterRequest().p50() / MILLI),
              number("%.2f", v.afterRequest().p99() / MILLI)));
    }
    return rows;
  }

  private static List<List<String>> joins(List<Findings.Join> joins) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("bus", "system", "ms", "with the start of its process, ms"));
    for (Findings.Join join : joins) {
      rows.add(
          List.of(
              Integer.toString(join.number()),
              join.system(),
              number("%.0f", join.millis()),
              number("%.0f", join.wholeMillis())));
    }
    return rows;
  }

  private static List<List<String>> warm(CoordinationReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("load", "system", "seconds", "first", "middle", "last"));
    for (PhaseResult phase : report.phases()) {
      if (phase.experiment().equals(Experiment.WARM_UP) && phase.round() == 0) {
        List<Long> tenths = phase.eachTenth();
        int span = Math.min(20, tenths.size());
        rows.add(
            List.of(
                phase.servers() + " servers, " + phase.clients() + " clients",
                phase.system(),
                number("%.0f", phase.seconds()),
                perSecond(tenths.subList(0, span)),
                perSecond(tenths.subList((tenths.size() - span) / 2, (tenths.size() + span) / 2)),
                perSecond(tenths.subList(tenths.size() - span, tenths.size()))));
      }
    }
    return rows;
  }

  private static String perSecond(List<Long> tenths) {
    return number("%,.0f", 10 * tenths.stream().mapToLong(Long::longValue).average().orElse(0));
  }

  private static List<List<String>> fleets(CoordinationReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "experiment", "system", "servers", "acknowledged", "lost", "doubled", "idle CPU %"));
    for (FleetResult fleet : report.fleets()) {
      rows.add(
          List.of(
              fleet.experiment(),
              fleet.system(),
              Integer.toString(fleet.servers()),
              Long.toString(fleet.integrity().acknowledged()),
              Long.toString(fleet.integrity().lost()),
              Long.toString(fleet.integrity().doubled()),
              number("%.1f", fleet.idleCpuPercent())));
    }
    return rows;
  }

  /** Writes a figure; nothing is known of a negative one. */
  static String number(String format, double value) {
    return value < 0 ? "?" : String.format(Locale.ROOT, format, value);
  }
}
