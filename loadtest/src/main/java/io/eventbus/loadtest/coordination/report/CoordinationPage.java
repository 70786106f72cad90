package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.CoordinationExperiment;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.report.LineChart;
import io.eventbus.loadtest.report.Page;
import io.eventbus.loadtest.report.WholeFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The page with plots: one file that needs nothing else, in light and dark. It has a panel for each
 * figure of the paper: throughput and latency over the number of clients for each number of
 * servers, and each failure scenario over time.
 */
public final class CoordinationPage {
  private final CoordinationReport report;
  private final List<String> systems;
  private final Page out;

  private CoordinationPage(CoordinationReport report) {
    this.report = report;
    this.systems = List.copyOf(report.systems().keySet());
    this.out = new Page("Coordination");
  }

  /**
   * Writes the page.
   *
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, CoordinationReport report) throws IOException {
    WholeFile.write(file, page(report));
  }

  static String page(CoordinationReport report) {
    CoordinationPage page = new CoordinationPage(report);
    page.head();
    page.table();
    page.overTime();
    page.warmUp();
    return page.out.end();
  }

  private void head() {
    out.paragraph(report.startedAt() + " · " + report.machine() + " · data on " + report.disk());
    out.paragraph(report.command());
    out.paragraph(
        "Each server is a process, each client has a connection of its own, and all of them share"
            + " the machine. Every write is on the disks of a majority before it is answered."
            + " Figures are medians of the rounds; a dot is one cell.");
    report.notes().forEach(out::paragraph);
    if (!report.disk().warning().isEmpty()) {
      out.bad(report.disk().warning());
    }
    report.systems().forEach((name, version) -> out.paragraph(name + " " + version));
    report.absent().forEach((name, why) -> out.bad(name + ": absent: " + why));
    report.problems().forEach(out::bad);
    CoordinationTable.sections(report).forEach(out::section);
  }

  private void table() {
    for (int servers : report.plan().servers()) {
      List<Group> groups =
          report.groups().stream()
              .filter(g -> g.cell().experiment().equals(CoordinationExperiment.TABLE))
              .filter(g -> g.cell().servers() == servers)
              .toList();
      if (!groups.isEmpty()) {
        String of = servers + (servers == 1 ? " server" : " servers");
        overClients("Throughput, " + of + ": commands/s", groups, PhaseResult::perSecond);
        overClients("Mean latency, " + of + ": ms", groups, PhaseResult::meanMillis);
      }
    }
  }

  private void overClients(String title, List<Group> groups, ToDoubleFunction<PhaseResult> figure) {
    out.heading(title);
    LineChart chart = new LineChart(title, "clients");
    for (int i = 0; i < systems.size(); i++) {
      List<LineChart.Point> points = new ArrayList<>();
      for (Group group : groups) {
        if (group.system().equals(systems.get(i))) {
          double value = group.median(figure);
          points.add(new LineChart.Point(group.cell().clients(), value));
        }
      }
      chart.line(i, systems.get(i), points);
    }
    out.picture(chart.draw());
  }

  /** The phases in which servers are killed, and the pipelined ones. */
  private void overTime() {
    report.groups().stream()
        .map(Group::cell)
        .distinct()
        .filter(cell -> !cell.experiment().equals(CoordinationExperiment.TABLE))
        .forEach(
            cell -> {
              String title =
                  cell.experiment() + ", " + cell.servers() + " servers, " + cell.clients();
              overTime(
                  title + " clients: successes/s",
                  report.groups().stream()
                      .filter(g -> g.cell().equals(cell))
                      .flatMap(g -> g.rounds().stream())
                      .toList());
            });
  }

  private void warmUp() {
    for (int servers : report.plan().servers()) {
      overTime(
          "Warm-up, " + servers + " servers: commands/s",
          report.phases().stream()
              .filter(p -> p.experiment().equals(CoordinationExperiment.WARM_UP) && p.round() == 0)
              .filter(p -> p.servers() == servers)
              .toList());
    }
  }

  private void overTime(String title, List<PhaseResult> phases) {
    if (phases.isEmpty()) {
      return;
    }
    out.heading(title);
    LineChart chart = new LineChart(title, "seconds");
    for (PhaseResult phase : phases) {
      List<LineChart.Point> points = new ArrayList<>();
      // Long phases second by second, short ones in tenths.
      int span = phase.eachTenth().size() > 100 ? 10 : 1;
      for (int i = 0; i + span <= phase.eachTenth().size(); i += span) {
        double sum =
            phase.eachTenth().subList(i, i + span).stream().mapToLong(Long::longValue).sum();
        points.add(new LineChart.Point(i / 10.0, sum * 10 / span));
      }
      chart.line(systems.indexOf(phase.system()), phase.system(), points);
    }
    out.picture(chart.draw());
  }
}
