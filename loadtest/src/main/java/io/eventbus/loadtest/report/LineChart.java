package io.eventbus.loadtest.report;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleFunction;
import java.util.function.DoubleUnaryOperator;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Lines over a common horizontal axis; both axes begin at zero. */
public final class LineChart {
  private final String title;
  private final XYChart chart = new XYChart(Plot.WIDTH, Plot.HEIGHT);
  private final Set<String> names = new HashSet<>();
  private DoubleUnaryOperator place = x -> x;

  /** A point of a line. */
  public record Point(double x, double y) {}

  /** Creates a chart without lines. */
  public LineChart(String title, String axis) {
    this.title = title;
    Plot.style(chart);
    chart.setXAxisTitle(axis);
    chart.getStyler().setXAxisMin(0.0).setYAxisMin(0.0);
  }

  /**
   * Has the vertical axis grow by powers of ten, and the horizontal one as given.
   *
   * @param newPlace place of a value on the horizontal axis
   * @param label text at a place of it
   */
  void logarithmic(DoubleUnaryOperator newPlace, DoubleFunction<String> label) {
    place = newPlace;
    chart.getStyler().setYAxisLogarithmic(true).setYAxisMin(null);
    chart.getStyler().setxAxisTickLabelsFormattingFunction(label::apply);
  }

  /**
   * Adds a line; lines of one name share its entry in the legend. Without points it is left out.
   */
  public void line(int colour, String name, List<Point> points) {
    if (points.isEmpty()) {
      return;
    }
    XYSeries series =
        chart.addSeries(
            name + " ".repeat(chart.getSeriesMap().size()),
            points.stream().mapToDouble(point -> place.applyAsDouble(point.x())).toArray(),
            points.stream().mapToDouble(Point::y).toArray());
    series.setLineColor(Plot.colour(colour)).setLineWidth(1.5f);
    series.setMarkerColor(Plot.colour(colour));
    // A line of one point cannot be seen.
    series.setMarker(points.size() == 1 ? SeriesMarkers.CIRCLE : SeriesMarkers.NONE);
    series.setLabel(name).setShowInLegend(names.add(name));
  }

  /** Draws the chart as an image for a page. */
  public String draw() {
    return Plot.image(chart, title);
  }
}
