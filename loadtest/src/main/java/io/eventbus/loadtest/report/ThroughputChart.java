package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * Picture for a document: deliveries per second of some workloads, a bar and its value for each
 * system. SVG that brings its own background, so that it can be read on light and dark pages.
 *
 * <p>XChart is not used: its writer of SVG is under the LGPL, and its charts have one scale.
 */
public final class ThroughputChart {
  private static final String BUS = "eventbus";
  private static final int WIDTH = 760;
  private static final int MARGIN = 20;
  private static final int HEAD = 68;
  private static final int FOOT = 24;
  private static final int TITLE = 20;
  private static final int ROW = 18;
  private static final int GAP = 14;
  private static final int THICKNESS = 13;
  private static final int BARS_LEFT = 100;
  private static final int MAX_LENGTH = 560;
  private static final int CAP = 3;
  private static final int SPACE = 8;

  /** From the top of a line to the baseline of its text. */
  private static final int BASELINE = 11;

  private static final String STYLE =
      """
      <style>
      .page{fill:#fff;stroke:#d0d7de}.ink{fill:#1b1f24}.soft{fill:#57606a}.bus{fill:#0072b2}.peer{fill:#e69f00}
      .range{stroke:#1b1f24;fill:none}.title{font-size:16px;font-weight:600}
      @media(prefers-color-scheme:dark){.page{fill:#14171a;stroke:#333a42}.ink{fill:#e6e9ed}.soft{fill:#9aa4af}
      .bus{fill:#56b4e9}.range{stroke:#e6e9ed}}
      </style>
      """;

  private final StringBuilder out = new StringBuilder();

  private ThroughputChart() {}

  /**
   * Draws a chart.
   *
   * @param summaries medians of any workloads and systems
   * @param workloads names of those to be drawn, each of which has medians
   * @param description a few words about a workload, by its name
   */
  public static String svg(
      List<Summary> summaries, List<String> workloads, UnaryOperator<String> description) {
    List<List<Summary>> groups = new ArrayList<>();
    for (String workload : workloads) {
      groups.add(summaries.stream().filter(s -> s.workload().equals(workload)).toList());
    }
    return new ThroughputChart().draw(groups, description);
  }

  private String draw(List<List<Summary>> groups, UnaryOperator<String> description) {
    int height = HEAD + FOOT + groups.stream().mapToInt(ThroughputChart::height).sum();
    line(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\""
                + " viewBox=\"0 0 %1$d %2$d\" role=\"img\" font-family=\"system-ui,sans-serif\""
                + " font-size=\"13\">",
            WIDTH,
            height));
    line("<title>" + Page.escape(title(groups)) + "</title>");
    out.append(STYLE);
    line(
        String.format(
            Locale.ROOT,
            "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"6\"/>",
            WIDTH - 1,
            height - 1));
    text("ink title", MARGIN, 30, "Deliveries per second");
    text(
        "soft",
        MARGIN,
        50,
        "Bar: median of the runs. Line: slowest to fastest run. Each workload has its own scale.");
    int top = HEAD;
    for (List<Summary> group : groups) {
      group(group, top, description);
      top += height(group);
    }
    text("soft", MARGIN, top + BASELINE, String.join(" · ", systems(groups)));
    line("</svg>");
    return out.toString();
  }

  private void group(List<Summary> group, int top, UnaryOperator<String> description) {
    String workload = group.get(0).workload();
    line(
        String.format(
            Locale.ROOT,
            "<text class=\"ink\" x=\"%d\" y=\"%d\"><tspan font-weight=\"600\">%s</tspan><tspan"
                + " class=\"soft\" dx=\"8\">%s</tspan></text>",
            MARGIN,
            top + BASELINE,
            Page.escape(workload),
            Page.escape(description.apply(workload))));
    double most = group.stream().mapToDouble(Summary::deliveredMost).max().orElse(0);
    int row = top + TITLE;
    for (Summary summary : group) {
      bar(summary, MAX_LENGTH / Math.max(1, most), row);
      row += ROW;
    }
  }

  private void bar(Summary summary, double scale, int top) {
    double length = summary.deliveredPerSecond() * scale;
    double least = BARS_LEFT + summary.deliveredLeast() * scale;
    double most = BARS_LEFT + summary.deliveredMost() * scale;
    text("soft", MARGIN, top + BASELINE, summary.driver());
    line(
        String.format(
            Locale.ROOT,
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
            summary.driver().equals(BUS) ? "bus" : "peer",
            BARS_LEFT,
            top,
            length,
            THICKNESS));
    line(
        String.format(
            Locale.ROOT,
            "<path class=\"range\" d=\"M%.1f %.1fv6m0 -3H%.1fm0 -3v6\"/>",
            least,
            top + THICKNESS / 2.0 - CAP,
            most));
    text(
        "ink",
        (int) Math.ceil(most) + SPACE,
        top + BASELINE,
        Figures.rate(summary.deliveredPerSecond()) + "/s");
  }

  private void text(String style, int left, int baseline, String text) {
    line(
        String.format(
            Locale.ROOT,
            "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>",
            style,
            left,
            baseline,
            Page.escape(text)));
  }

  private void line(String text) {
    out.append(text).append('\n');
  }

  private static int height(List<Summary> group) {
    return TITLE + ROW * group.size() + GAP;
  }

  /** Returns the content of the chart as text, for screen readers. */
  private static String title(List<List<Summary>> groups) {
    List<String> parts = new ArrayList<>();
    for (List<Summary> group : groups) {
      List<String> values =
          group.stream().map(s -> s.driver() + " " + Figures.rate(s.deliveredPerSecond())).toList();
      parts.add(group.get(0).workload() + ": " + String.join(", ", values));
    }
    return "Deliveries per second. " + String.join("; ", parts);
  }

  private static List<String> systems(List<List<Summary>> groups) {
    return groups.stream()
        .flatMap(List::stream)
        .map(summary -> summary.driver() + " " + summary.version())
        .distinct()
        .toList();
  }
}
