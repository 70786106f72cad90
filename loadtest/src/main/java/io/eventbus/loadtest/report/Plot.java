package io.eventbus.loadtest.report;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/** Look that all plots share, and the image of a plot in a page. */
final class Plot {
  static final int WIDTH = 720;
  static final int HEIGHT = 300;
  static final Color INK = new Color(0x1b1f24);

  private static final Color GRID = new Color(0xd9dee4);

  /** Pixels for each dot of the page, so that a plot stays sharp on dense screens. */
  private static final int SCALE = 2;

  /** Colours that people with colour blindness can tell apart (Okabe and Ito). */
  private static final List<Color> COLOURS =
      List.of(
          new Color(0x0072b2),
          new Color(0xe69f00),
          new Color(0x009e73),
          new Color(0xcc79a7),
          new Color(0x56b4e9),
          new Color(0xd55e00));

  static {
    // Nothing here needs a display, and many servers have none.
    System.setProperty("java.awt.headless", "true");
  }

  private Plot() {}

  static Color colour(int number) {
    return COLOURS.get(number % COLOURS.size());
  }

  /** Gives a chart the common look. */
  static void style(Chart<? extends AxesChartStyler, ?> chart) {
    AxesChartStyler styler = chart.getStyler();
    styler.setChartTitleVisible(false);
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setChartFontColor(INK);
    styler.setPlotBorderVisible(false);
    styler.setPlotGridLinesColor(GRID);
    styler.setLegendPosition(Styler.LegendPosition.OutsideS);
    styler.setLegendLayout(Styler.LegendLayout.Horizontal);
    styler.setLegendBorderColor(Color.WHITE);
    styler.setSeriesColors(COLOURS.toArray(new Color[0]));
    styler.setDecimalPattern("#,##0.###");
    styler.setLocale(Locale.ROOT);
  }

  /** Draws a chart as an HTML image that holds its PNG. */
  static String image(Chart<?, ?> chart, String title) {
    BufferedImage image =
        new BufferedImage(SCALE * WIDTH, SCALE * HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.scale(SCALE, SCALE);
    chart.paint(graphics, WIDTH, HEIGHT);
    graphics.dispose();
    ByteArrayOutputStream png = new ByteArrayOutputStream();
    try {
      ImageIO.write(image, "png", png);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return String.format(
        Locale.ROOT,
        "<img alt=\"%s\" width=\"%d\" height=\"%d\" src=\"data:image/png;base64,%s\">%n",
        Page.escape(title),
        WIDTH,
        HEIGHT,
        Base64.getEncoder().encodeToString(png.toByteArray()));
  }
}
