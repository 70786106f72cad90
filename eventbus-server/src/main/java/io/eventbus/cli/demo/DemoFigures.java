package io.eventbus.cli.demo;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Figures of a bus of the demo at one moment.
 *
 * @param load the share of its capacity that is used, smoothed
 */
record DemoFigures(
    double load,
    boolean overloaded,
    boolean draining,
    long clients,
    long eventsIn,
    long eventsOut,
    long forwarded,
    long lanes) {
  /** Figures of a bus that has ended. */
  static final DemoFigures NONE = new DemoFigures(0, false, false, 0, 0, 0, 0, 0);

  /** Reads the metrics page of a bus. */
  static DemoFigures parse(String page) {
    return new DemoFigures(
        value(page, "eventbus_load_ratio"),
        value(page, "eventbus_overloaded") > 0,
        value(page, "eventbus_draining") > 0,
        (long) value(page, "eventbus_connections"),
        (long) value(page, "eventbus_received_events_total"),
        (long) value(page, "eventbus_sent_events_total"),
        (long) value(page, "eventbus_federation_sent_events_total"),
        (long) value(page, "eventbus_federation_lanes{state=\"up\"}"));
  }

  private static double value(String page, String sample) {
    Matcher found =
        Pattern.compile("^" + Pattern.quote(sample) + " (\\S+)$", Pattern.MULTILINE).matcher(page);
    if (!found.find()) {
      throw new CliFailure(ExitCode.FAILED, "the metrics of a bus have no " + sample);
    }
    return Double.parseDouble(found.group(1));
  }
}
