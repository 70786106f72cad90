package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.CoordinationExperiment;
import io.eventbus.loadtest.coordination.run.Findings;
import io.eventbus.loadtest.coordination.run.FleetResult;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import java.util.ArrayList;
import java.util.List;

/** The tables that are about servers rather than about load. */
final class ServerTables {
  private ServerTables() {}

  static List<List<String>> visibilities(List<Findings.Visibility> visibilities) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "buses",
            "system",
            "changes",
            "after the answer: p50 ms",
            "p99 ms",
            "after the request: p50 ms",
            "p99 ms"));
    for (Findings.Visibility v : visibilities) {
      rows.add(
          List.of(
              Integer.toString(v.buses()),
              v.system(),
              Long.toString(v.afterAnswer().count()),
              CoordinationTable.number("%.2f", v.afterAnswer().p50() / CoordinationTable.MILLI),
              CoordinationTable.number("%.2f", v.afterAnswer().p99() / CoordinationTable.MILLI),
              CoordinationTable.number("%.2f", v.afterRequest().p50() / CoordinationTable.MILLI),
              CoordinationTable.number("%.2f", v.afterRequest().p99() / CoordinationTable.MILLI)));
    }
    return rows;
  }

  static List<List<String>> joins(List<Findings.Join> joins) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("bus", "system", "ms", "with the start of its process, ms"));
    for (Findings.Join join : joins) {
      rows.add(
          List.of(
              Integer.toString(join.number()),
              join.system(),
              CoordinationTable.number("%.0f", join.millis()),
              CoordinationTable.number("%.0f", join.wholeMillis())));
    }
    return rows;
  }

  static List<List<String>> warm(CoordinationReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("load", "system", "seconds", "first", "middle", "last"));
    for (PhaseResult phase : report.phases()) {
      if (phase.experiment().equals(CoordinationExperiment.WARM_UP) && phase.round() == 0) {
        List<Long> tenths = phase.eachTenth();
        int span = Math.min(20, tenths.size());
        rows.add(
            List.of(
                phase.servers() + " servers, " + phase.clients() + " clients",
                phase.system(),
                CoordinationTable.number("%.0f", phase.seconds()),
                perSecond(tenths.subList(0, span)),
                perSecond(tenths.subList((tenths.size() - span) / 2, (tenths.size() + span) / 2)),
                perSecond(tenths.subList(tenths.size() - span, tenths.size()))));
      }
    }
    return rows;
  }

  private static String perSecond(List<Long> tenths) {
    return CoordinationTable.number(
        "%,.0f", 10 * tenths.stream().mapToLong(Long::longValue).average().orElse(0));
  }

  static List<List<String>> fleets(CoordinationReport report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "experiment",
            "system",
            "servers",
            "acknowledged",
            "lost",
            "doubled",
            "foreign",
            "idle CPU %"));
    for (FleetResult fleet : report.fleets()) {
      rows.add(
          List.of(
              fleet.experiment(),
              fleet.system(),
              Integer.toString(fleet.servers()),
              Long.toString(fleet.integrity().acknowledged()),
              Long.toString(fleet.integrity().lost()),
              Long.toString(fleet.integrity().doubled()),
              Long.toString(fleet.integrity().foreign()),
              CoordinationTable.number("%.1f", fleet.idleCpuPercent())));
    }
    return rows;
  }
}
