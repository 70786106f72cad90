package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.Experiment;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.report.Svg;
import java.io.IOException;
import java.nio.file.Files;
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
  private static final String STYLE =
      """
      :root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--grid:#d9dee4;--soft:#5b6570;--bad:#b42318}
      @media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--paper:#14171a;--grid:#333a42;--soft:#9aa4af;--bad:#ff8a7a}}
      body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:2rem auto;padding:0 1rem}
      h2{margin-top:2.5rem;border-bottom:1px solid var(--grid)}p,li{color:var(--soft)}
      .wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
      th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
      th:first-child,td:first-child{text-align:left}.bad{color:var(--bad);font-weight:600}
      svg{width:100%;height:auto;max-width:45rem}text{font-size:12px;fill:var(--ink)}
      .name{text-anchor:end}.tick{text-anchor:middle;fill:var(--soft)}.grid{stroke:var(--grid)}
      .dot{fill:var(--paper);stroke:var(--ink)}polyline{fill:none;stroke-width:1.5}
      .key{display:inline-block;width:1.2em;height:.25em;margin:0 .4em .25em 1em}
      """;

  /** Colours that people who see few of them can tell apart (Okabe and Ito). */
  private static final List<String> COLOURS = List.of("#0072b2", "#e69f00", "#009e73", "#cc79a7");

  private final CoordinationReport report;
  private final List<String> systems;
  private final StringBuilder out = new StringBuilder();

  private CoordinationPage(CoordinationReport report) {
    this.report = report;
    this.systems = List.copyOf(report.systems().keySet());
  }

  /**
   * Writes the page.
   *
   * @param file takes the HTML
   * @param report what was found
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, CoordinationReport report) throws IOException {
    Files.writeString(file, page(report));
  }

  static String page(CoordinationReport report) {
    CoordinationPage page = new CoordinationPage(report);
    page.head();
    page.table();
    page.overTime();
    page.warmUp();
    return page.out.append("</html>\n").toString();
  }

  private void head() {
    out.append("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    out.append("<meta name=\"viewport\" content=\"width=device-width\">\n");
    out.append("<title>Coordination</title>\n<style>\n").append(STYLE);
    for (int i = 0; i < systems.size(); i++) {
      out.append(".l" + i + "{stroke:" + colour(i) + "}\n");
    }
    out.append("</style>\n<h1>Coordination</h1>\n");
    paragraph(report.startedAt() + " · " + report.machine() + " · data on " + report.disk());
    paragraph(report.command());
    paragraph(
        "Each server is a process, each client has a connection of its own, and all of them share the"
            + " machine. Every write is on the disks of a majority before it is answered. Figures"
            + " are medians of the rounds; a dot is one cell.");
    report.notes().forEach(this::paragraph);
    if (!report.disk().warning().isEmpty()) {
      bad(report.disk().warning());
    }
    out.append("<p>");
    for (int i = 0; i < systems.size(); i++) {
      out.append("<span class=\"key\" style=\"background:" + colour(i) + "\"></span>");
      out.append(Svg.escape(systems.get(i) + " " + report.systems().get(systems.get(i))));
    }
    out.append("</p>\n");
    report.absent().forEach((name, why) -> bad(name + ": absent: " + why));
    report.problems().forEach(this::bad);
    for (CoordinationTable.Section section : CoordinationTable.sections(report)) {
      heading(section.title());
      rows(section.rows());
    }
  }

  private static String colour(int system) {
    return COLOURS.get(system % COLOURS.size());
  }

  private void paragraph(String text) {
    out.append("<p>").append(Svg.escape(text)).append("</p>\n");
  }

  private void bad(String text) {
    out.append("<p class=\"bad\">").append(Svg.escape(text)).append("</p>\n");
  }

  private void heading(String text) {
    out.append("<h2>").append(Svg.escape(text)).append("</h2>\n");
  }

  private void rows(List<List<String>> rows) {
    out.append("<div class=\"wide\"><table>\n");
    String cell = "<th>";
    for (List<String> row : rows) {
      out.append("<tr>");
      for (String text : row) {
        out.append(cell).append(Svg.escape(text));
      }
      out.append("</tr>\n");
      cell = "<td>";
    }
    out.append("</table></div>\n");
  }

  private void table() {
    for (int servers : report.plan().servers()) {
      List<Group> groups =
          report.groups().stream()
              .filter(g -> g.cell().experiment().equals(Experiment.TABLE))
              .filter(g -> g.cell().servers() == servers)
              .toList();
      if (!groups.isEmpty()) {
        String of = servers + (servers == 1 ? " server" : " servers");
        overClients("Throughput, " + of + ": commands/s", groups, PhaseResult::perSecond, "%,.0f");
        overClients("Mean latency, " + of + ": ms", groups, PhaseResult::meanMillis, "%.3f");
      }
    }
  }

  private void overClients(
      String title, List<Group> groups, ToDoubleFunction<PhaseResult> figure, String format) {
    heading(title);
    LineChart chart = new LineChart(title, "clients");
    for (int i = 0; i < systems.size(); i++) {
      List<LineChart.Point> points = new ArrayList<>();
      for (Group group : groups) {
        if (group.system().equals(systems.get(i))) {
          double value = group.median(figure);
          String tip =
              group.system()
                  + ", "
                  + group.cell().clients()
                  + " clients: "
                  + CoordinationTable.number(format, value);
          points.add(new LineChart.Point(group.cell().clients(), value, tip));
        }
      }
      chart.line(i, points);
    }
    out.append(chart.draw());
  }

  /** The phases in which servers are killed, and the pipelined ones. */
  private void overTime() {
    report.groups().stream()
        .map(Group::cell)
        .distinct()
        .filter(cell -> !cell.experiment().equals(Experiment.TABLE))
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
              .filter(p -> p.experiment().equals(Experiment.WARM_UP) && p.round() == 0)
              .filter(p -> p.servers() == servers)
              .toList());
    }
  }

  private void overTime(String title, List<PhaseResult> phases) {
    if (phases.isEmpty()) {
      return;
    }
    heading(title);
    LineChart chart = new LineChart(title, "seconds");
    for (PhaseResult phase : phases) {
      List<LineChart.Point> points = new ArrayList<>();
      // Long phases second by second, short ones in tenths.
      int span = phase.eachTenth().size() > 100 ? 10 : 1;
      for (int i = 0; i + span <= phase.eachTenth().size(); i += span) {
        double sum =
            phase.eachTenth().subList(i, i + span).stream().mapToLong(Long::longValue).sum();
        points.add(new LineChart.Point(i / 10.0, sum * 10 / span, ""));
      }
      chart.line(systems.indexOf(phase.system()), points);
    }
    out.append(chart.draw());
  }
}
