package io.eventbus.loadtest.report;

import java.util.Locale;

/** Builds one inline SVG picture, with text safely escaped and numbers short. */
public final class Svg {
  private final StringBuilder out = new StringBuilder();

  /** Begins a picture. */
  public Svg(int width, int height, String title) {
    out.append(
        String.format(
            Locale.ROOT,
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
            width,
            height,
            escape(title)));
  }

  /** Writes text. */
  public void text(double x, double y, String kind, String text) {
    out.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>%n",
            x,
            y,
            kind,
            escape(text)));
  }

  /** Draws a straight line. */
  public void line(double x1, double y1, double x2, double y2, String kind) {
    out.append(
        String.format(
            Locale.ROOT,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>%n",
            x1,
            y1,
            x2,
            y2,
            kind));
  }

  void bar(double x, double y, double width, double height, String kind, String tip) {
    out.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\">"
                + "<title>%s</title></rect>%n",
            x,
            y,
            Math.max(0, width),
            height,
            kind,
            escape(tip)));
  }

  /** Draws a dot. */
  public void dot(double x, double y, String kind, String tip) {
    out.append(
        String.format(
            Locale.ROOT,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"%s\"><title>%s</title></circle>%n",
            x,
            y,
            kind,
            escape(tip)));
  }

  /** Draws a line through points. */
  public void curve(StringBuilder points, String kind) {
    out.append("<polyline points=\"").append(points).append("\" class=\"").append(kind);
    out.append("\"/>\n");
  }

  /** Adds a point to those of a curve. */
  public static void point(StringBuilder points, double x, double y) {
    points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
  }

  /** Ends the picture. */
  public String end() {
    return out.append("</svg>\n").toString();
  }

  /** Makes text safe to stand in HTML or SVG. */
  public static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
