package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines over a common horizontal axis, from zero up. */
public final class LineChart {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 240;
  private static final int LEFT = 66;
  private static final int RIGHT = 20;
  private static final int TOP = 14;
  private static final int BOTTOM = 36;
  private static final int STEPS = 4;
  private static final int TICKS = 6;

  /**
   * A point.
   *
   * @param x along the axis
   * @param y from zero up
   * @param tip is shown when it is pointed at; an empty one makes no dot
   */
  public record Point(double x, double y, String tip) {}

  private record Line(String kind, List<Point> points) {}

  private final String title;
  private final String axis;
  private final List<Line> lines = new ArrayList<>();

  /**
   * Begins a chart.
   *
   * @param title for those who cannot see it
   * @param axis what is along it
   */
  public LineChart(String title, String axis) {
    this.title = title;
    this.axis = axis;
  }

  /**
   * Adds a line.
   *
   * @param colour the number of its colour
   * @param points from left to right
   */
  public void line(int colour, List<Point> points) {
    lines.add(new Line("l" + colour, points));
  }

  /**
   * Draws it.
   *
   * @return SVG
   */
  public String draw() {
    double right = 1e-9;
    double top = 1e-9;
    for (Line line : lines) {
      for (Point point : line.points()) {
        right = Math.max(right, point.x());
        top = Math.max(top, point.y());
      }
    }
    Svg svg = new Svg(WIDTH, HEIGHT, title);
    for (int step = 0; step <= STEPS; step++) {
      double y = y(top * step / STEPS, top);
      svg.line(LEFT, y, WIDTH - RIGHT, y, "grid");
      svg.text(LEFT - 6.0, y + 4, "name", figure(top * step / STEPS));
    }
    for (int tick = 0; tick <= TICKS; tick++) {
      double value = right * tick / TICKS;
      svg.text(x(value, right), HEIGHT - BOTTOM + 16.0, "tick", figure(value));
    }
    svg.text(WIDTH / 2.0, HEIGHT - 4.0, "tick", axis);
    for (Line line : lines) {
      StringBuilder points = new StringBuilder();
      for (Point point : line.points()) {
        Svg.point(points, x(point.x(), right), y(point.y(), top));
      }
      svg.curve(points, line.kind());
      for (Point point : line.points()) {
        if (!point.tip().isEmpty()) {
          svg.dot(x(point.x(), right), y(point.y(), top), "dot", point.tip());
        }
      }
    }
    return svg.end();
  }

  private static double x(double value, double right) {
    return LEFT + value / right * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double value, double top) {
    return HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP);
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, value >= 100 || value == 0 ? "%,.0f" : "%.1f", value);
  }
}
