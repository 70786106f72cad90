package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Lines over a common horizontal axis. */
public final class LineChart {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 260;

  /** Room for the widest label: 9,999,999 is never written, 999,999 is. */
  private static final int LEFT = 72;

  private static final int RIGHT = 20;
  private static final int TOP = 14;
  private static final int BOTTOM = 36;
  static final int ROWS = 5;
  static final int COLUMNS = 10;

  /**
   * A point.
   *
   * @param tip is shown when it is pointed at; an empty one makes no dot
   */
  public record Point(double x, double y, String tip) {}

  private record Line(int colour, List<Point> points) {}

  private final String title;
  private final String axis;
  private final Axis.Scale horizontal;
  private final Axis.Scale vertical;
  private final List<Line> lines = new ArrayList<>();

  /** Begins a chart, both axes of which go from zero up. */
  public LineChart(String title, String axis) {
    this(title, axis, Axis.linear(COLUMNS), Axis.linear(ROWS));
  }

  LineChart(String title, String axis, Axis.Scale horizontal, Axis.Scale vertical) {
    this.title = title;
    this.axis = axis;
    this.horizontal = horizontal;
    this.vertical = vertical;
  }

  /** Adds a line. */
  public void line(int colour, List<Point> points) {
    lines.add(new Line(colour, points));
  }

  /** Draws it. */
  public String draw() {
    Axis x = axis(horizontal, Point::x);
    Axis y = axis(vertical, Point::y);
    Svg svg = new Svg(WIDTH, HEIGHT, title);
    for (Axis.Mark mark : y.marks()) {
      double at = down(y, mark.value());
      svg.line(LEFT, at, WIDTH - RIGHT, at, "grid");
      svg.text(LEFT - 6.0, at + 4, "name", mark.label());
    }
    for (Axis.Mark mark : x.marks()) {
      double at = right(x, mark.value());
      svg.line(at, TOP, at, HEIGHT - BOTTOM, "grid");
      svg.text(at, HEIGHT - BOTTOM + 16.0, "tick", mark.label());
    }
    svg.text(WIDTH / 2.0, HEIGHT - 4.0, "tick", axis);
    for (Line line : lines) {
      StringBuilder points = new StringBuilder();
      for (Point point : line.points()) {
        Svg.point(points, right(x, point.x()), down(y, point.y()));
      }
      svg.curve(points, "l" + line.colour());
      for (Point point : line.points()) {
        boolean alone = line.points().size() == 1;
        if (alone || !point.tip().isEmpty()) {
          // A curve of one point is nothing to be seen.
          String kind = alone ? "c" + line.colour() : "dot";
          svg.dot(right(x, point.x()), down(y, point.y()), kind, point.tip());
        }
      }
    }
    return svg.end();
  }

  private Axis axis(Axis.Scale scale, ToDoubleFunction<Point> value) {
    DoubleSummaryStatistics all =
        lines.stream()
            .flatMap(line -> line.points().stream())
            .mapToDouble(value)
            .summaryStatistics();
    return all.getCount() == 0 ? scale.over(0, 1) : scale.over(all.getMin(), all.getMax());
  }

  private static double right(Axis axis, double value) {
    return LEFT + axis.place().applyAsDouble(value) * (WIDTH - LEFT - RIGHT);
  }

  private static double down(Axis axis, double value) {
    return HEIGHT - BOTTOM - axis.place().applyAsDouble(value) * (HEIGHT - BOTTOM - TOP);
  }
}
