package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.CoordinationExperiment;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.report.Chapter;
import io.eventbus.loadtest.report.Section;
import io.eventbus.loadtest.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The tables, for the terminal and for the page. */
public final class CoordinationTable {
  /** This product's registry. */
  static final String OWN = "eventbus";

  static final double MILLI = 1_000;

  private static final int TEXT_COLUMNS = 2;

  private CoordinationTable() {}

  /** Writes all tables. */
  public static String of(CoordinationReport report) {
    StringBuilder out = new StringBuilder();
    for (Section section : sections(report)) {
      out.append('\n').append(section.title()).append("\n\n");
      TextTable.write(out, section.rows(), section.textColumns());
    }
    report.absent().forEach((name, why) -> out.append(name + ": absent: " + why + '\n'));
    report.problems().forEach(problem -> out.append("failed: " + problem + '\n'));
    out.append('\n');
    report.notes().forEach(note -> out.append(note).append('\n'));
    if (!report.disk().warning().isEmpty()) {
      out.append("WARNING: ").append(report.disk().warning()).append('\n');
    }
    out.append(report.systems()).append("; ").append(report.machine());
    return out.append("; data on ").append(report.disk()).append('\n').toString();
  }

  /** Puts everything together for a document. */
  public static Chapter chapter(CoordinationReport report) {
    List<String> remarks = new ArrayList<>(report.notes());
    remarks.add("Data on " + report.disk() + ".");
    if (!report.disk().warning().isEmpty()) {
      remarks.add("WARNING: " + report.disk().warning());
    }
    report.problems().forEach(problem -> remarks.add("Failed: " + problem));
    return new Chapter(
        "The registry against others",
        report.startedAt(),
        report.command(),
        report.machine(),
        report.systems().entrySet().stream()
            .map(system -> system.getKey() + " " + system.getValue())
            .sorted()
            .collect(Collectors.joining(", ")),
        remarks,
        sections(report),
        List.of());
  }

  static List<Section> sections(CoordinationReport report) {
    List<Section> sections = new ArrayList<>();
    List<Group> groups = report.groups();
    add(sections, "Closed-loop clients", cells(groups, CoordinationExperiment.TABLE, false));
    add(sections, "Pipelined clients", cells(groups, CoordinationExperiment.PIPELINED, false));
    add(
        sections,
        "Transactions: read a list, change it, write it back if it is unchanged",
        cells(groups, CoordinationExperiment.TRANSACTIONS, true));
    add(sections, "Servers killed", failures(groups));
    add(sections, "Leader killed again and again", kills(groups));
    add(
        sections,
        "A change is visible on every bus",
        ServerTables.visibilities(report.visibilities()));
    add(sections, "A bus joins", ServerTables.joins(report.joins()));
    add(
        sections,
        "Warm-up: commands/s in the first, the middle and the last two seconds",
        ServerTables.warm(report));
    add(
        sections,
        "What the servers hold, and what they cost between the phases",
        ServerTables.fleets(report));
    add(
        sections,
        "Failed attempts; a client that asks the next server by itself has fewer",
        errors(groups));
    return sections;
  }

  private static void add(List<Section> sections, String title, List<List<String>> rows) {
    if (rows.size() > 1) {
      sections.add(new Section(title, rows, TEXT_COLUMNS));
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
            "late"));
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
                conflicts ? Long.toString(group.sum(PhaseResult::conflicts)) : leaderChanges(group),
                late(group)));
      }
    }
    return rows;
  }

  private static String late(Group group) {
    return Long.toString(group.sum(PhaseResult::late));
  }

  /** Unknown if it is so in one round. */
  private static String leaderChanges(Group group) {
    return group.least(PhaseResult::leaderChanges) < 0
        ? "?"
        : Long.toString(group.sum(PhaseResult::leaderChanges));
  }

  private static List<List<String>> errors(List<Group> groups) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("cell", "system", "attempts"));
    for (Group group : groups) {
      if (!group.errors().isEmpty()) {
        rows.add(
            List.of(
                group.cell().experiment() + ", " + name(group.cell()),
                group.system(),
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
            "leader changes",
            "late"));
    List<String> other =
        List.of(
            CoordinationExperiment.TABLE,
            CoordinationExperiment.PIPELINED,
            CoordinationExperiment.TRANSACTIONS,
            CoordinationExperiment.LEADER_KILL);
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
                leaderChanges(group),
                late(group)));
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
            "late"));
    for (Group group : groups) {
      if (group.cell().experiment().equals(CoordinationExperiment.LEADER_KILL)) {
        rows.add(
            List.of(
                name(group.cell()),
                group.system(),
                Integer.toString(group.rounds().size()),
                number("%.0f", group.quantile(PhaseResult::longestGapMillis, 0.5)),
                number("%.0f", group.quantile(PhaseResult::longestGapMillis, 0.99)),
                number("%.0f", group.most(PhaseResult::longestGapMillis)),
                number("%.0f", group.most(PhaseResult::worstClientMillis)),
                late(group)));
      }
    }
    return rows;
  }

  /** Writes a figure; nothing is known of a negative one. */
  static String number(String format, double value) {
    return value < 0 ? "?" : String.format(Locale.ROOT, format, value);
  }
}
