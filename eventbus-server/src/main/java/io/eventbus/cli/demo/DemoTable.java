package io.eventbus.cli.demo;

import io.eventbus.cli.demo.DemoLatency.Leg;
import io.eventbus.cli.demo.DemoTally.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Tables of the demo. For one thread. */
final class DemoTable {
  private static final String ROW = "  %-20s %-22s %9s / %-9s %9s  %s";
  private static final String LEG = "  %-43s %9s   %9s   %9s";

  private static final String WARM = "latency (without the first seconds)";
  private static final String COLD = "latency (Java is warming up)";

  private final List<DemoPublisher> publishers;
  private final List<DemoSubscriber> subscribers;
  private final DemoLatency latency;
  private final boolean colour;
  private final Map<String, Long> before = new HashMap<>();
  private Duration drawnAt = Duration.ZERO;

  DemoTable(
      List<DemoPublisher> publishers,
      List<DemoSubscriber> subscribers,
      DemoLatency latency,
      boolean colour) {
    this.publishers = publishers;
    this.subscribers = subscribers;
    this.latency = latency;
    this.colour = colour;
  }

  /** Returns the table after {@code elapsed}; rates are those since the table before. */
  List<String> live(Duration elapsed) {
    double seconds = Math.max(0.001, elapsed.minus(drawnAt).toNanos() / 1e9);
    drawnAt = elapsed;
    List<String> lines = new ArrayList<>();
    lines.add(bold(ROW.formatted("publisher", "", "published", "all", "events/s", "confirmed")));
    for (DemoPublisher p : publishers) {
      // Read first: nothing is confirmed that was not published before.
      long confirmed = p.confirmed();
      lines.add(
          ROW.formatted(
              p.name(),
              "",
              number(p.published()),
              number(p.expected()),
              rate("p " + p.name(), p.published(), seconds),
              number(confirmed)));
    }
    lines.add(
        bold(ROW.formatted("subscriber", "filter", "received", "all", "events/s", "members")));
    for (DemoSubscriber s : subscribers) {
      lines.add(
          ROW.formatted(
              s.name(),
              s.filter(),
              number(s.tally().received()),
              number(s.tally().expected()),
              rate("s " + s.name(), s.tally().received(), seconds),
              s.shares()));
    }
    lines.addAll(latencyLines());
    return lines;
  }

  /** Returns the table at the end; rates are those over the whole time. */
  List<String> last(Duration elapsed) {
    before.clear();
    drawnAt = Duration.ZERO;
    return live(elapsed);
  }

  /** Returns the result. */
  List<String> result() {
    return result(
        subscribers.stream()
            .map(s -> new Result(s.name(), s.filter(), s.tally().verdict()))
            .toList(),
        colour);
  }

  /** Result of a subscriber. */
  record Result(String name, String filter, Verdict verdict) {}

  /** Returns a table of results. */
  static List<String> result(List<Result> results, boolean colour) {
    String row = "  %-20s %-22s %9s %9s %8s %8s %9s %6s  %s";
    String head =
        row.formatted(
            "subscriber",
            "filter",
            "expected",
            "received",
            "missing",
            "doubled",
            "disorder",
            "wrong",
            "");
    List<String> lines = new ArrayList<>();
    lines.add(bold(head, colour));
    for (Result result : results) {
      Verdict v = result.verdict();
      lines.add(
          row.formatted(
              result.name(),
              result.filter(),
              number(v.expected()),
              number(v.received()),
              number(v.missing()),
              number(v.doubled()),
              number(v.disordered()),
              number(v.wrong()),
              v.good() ? marked("32", "good", colour) : red("BAD", colour)));
    }
    return lines;
  }

  private List<String> latencyLines() {
    DemoLatency.Legs legs = latency.legs();
    return List.of(
        bold(LEG.formatted(latency.warm() ? WARM : COLD, "p50", "p99", "max")),
        leg("publisher to bus", legs.toBus()),
        leg("bus to subscriber", legs.fromBus()));
  }

  private static String leg(String name, Leg leg) {
    return LEG.formatted(name, millis(leg.p50()), millis(leg.p99()), millis(leg.max()));
  }

  private String rate(String name, long now, double seconds) {
    Long last = before.put(name, now);
    return number(Math.round((now - (last == null ? 0 : last)) / seconds));
  }

  private static String number(long n) {
    return String.format(Locale.ROOT, "%,d", n);
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%.2f ms", millis);
  }

  private String bold(String text) {
    return bold(text, colour);
  }

  static String bold(String text, boolean colour) {
    return marked("1", text, colour);
  }

  static String red(String text, boolean colour) {
    return marked("31", text, colour);
  }

  private static String marked(String how, String text, boolean colour) {
    return colour ? "\033[" + how + "m" + text + "\033[0m" : text;
  }
}
