package io.eventbus.loadtest.attack.report;

import io.eventbus.loadtest.attack.honest.PairOutcome;
import io.eventbus.loadtest.attack.run.AttackResult;
import io.eventbus.loadtest.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The results as a table for a terminal, with what was missed below it. */
public final class AttackTable {
  private static final List<String> HEAD =
      List.of(
          "attack",
          "bus",
          "met",
          "lost/dbl/reord",
          "closed",
          "quiet p50",
          "max ms",
          "attack p50",
          "max ms",
          "after max",
          "calls p50",
          "max ms",
          "refused",
          "durable p50",
          "max ms",
          "control max",
          "healthz ms",
          "bad",
          "heap MB",
          "after",
          "counted MB",
          "RSS MB",
          "log lines",
          "log KB",
          "sent MB",
          "closes by code");
  private static final int TEXT_COLUMNS = 3;

  private AttackTable() {}

  /** Writes the table. */
  public static String of(List<AttackResult> results) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEAD);
    results.forEach(result -> rows.add(row(result)));
    StringBuilder out = new StringBuilder();
    TextTable.write(out, rows, TEXT_COLUMNS);
    out.append('\n');
    for (AttackResult result : results) {
      for (String missed : AttackVerdict.missed(result)) {
        out.append(result.attack()).append(": ").append(missed).append('\n');
      }
      Map<String, Long> figures = new TreeMap<>(result.observed().figures());
      figures.keySet().removeAll(List.of("bytesSent", "bytesReceived"));
      out.append(result.attack()).append(" saw ").append(figures).append('\n');
    }
    return out.toString();
  }

  /** Says in one line what an attack came to. */
  public static String line(AttackResult result) {
    List<String> missed = AttackVerdict.missed(result);
    return String.format(
        Locale.ROOT,
        "%-22s %s",
        result.attack(),
        missed.isEmpty() ? "met" : "MISSED: " + String.join("; ", missed));
  }

  private static List<String> row(AttackResult result) {
    PairOutcome events = result.honest().events();
    return List.of(
        result.attack() + (result.round() > 1 ? " #" + result.round() : ""),
        result.bus().alive()
            ? "alive"
            : String.format(
                Locale.ROOT,
                "exit %d, %.1f s",
                result.bus().exitCode(),
                result.bus().afterSeconds()),
        AttackVerdict.missed(result).isEmpty() ? "yes" : "NO",
        events.lost() + "/" + events.doubled() + "/" + events.reordered(),
        Integer.toString(events.closed().size()),
        digits(result.honest().quiet().p50()),
        digits(result.honest().quiet().max()),
        digits(result.honest().attack().p50()),
        digits(result.honest().attack().max()),
        digits(result.honest().after().max()),
        digits(result.honest().callTimes().attack().p50()),
        digits(result.honest().callTimes().worst()),
        Long.toString(result.honest().calls().refused()),
        digits(result.honest().durable().attack().p50()),
        digits(result.honest().durable().worst()),
        digits(result.honest().control().worst()),
        digits(result.health().worstMillis()),
        Long.toString(result.health().bad()),
        digits(AttackVerdict.megabytes(result.memory().heapBefore())),
        digits(AttackVerdict.megabytes(result.memory().heapAfter())),
        digits(AttackVerdict.megabytes(result.memory().countedAfter())),
        digits(AttackVerdict.megabytes(result.memory().rssPeak())),
        Long.toString(result.bus().logLines()),
        digits(result.bus().logBytes() / 1e3),
        digits(result.observed().figures().getOrDefault("bytesSent", 0L) / 1e6),
        closes(result.observed().closes()));
  }

  private static String closes(Map<Integer, Long> closes) {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(closes)
        .forEach(
            (code, count) ->
                text.append(text.isEmpty() ? "" : " ").append(code).append('x').append(count));
    return text.isEmpty() ? "-" : text.toString();
  }

  private static String digits(double value) {
    if (value < 0) {
      return "?";
    }
    return String.format(Locale.ROOT, value >= 10 ? "%.0f" : "%.1f", value);
  }
}
