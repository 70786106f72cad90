package io.eventbus.loadtest.faults.run;

import java.util.List;

/** Result of a run as text. */
public final class DurableFaultTable {
  private DurableFaultTable() {}

  /** Writes faults, figures and findings. */
  public static String of(DurableFaultResult result) {
    StringBuilder out = new StringBuilder();
    result
        .faults()
        .forEach(
            (kind, count) ->
                out.append(String.format("%-34s %9d", kind, count))
                    .append(readyAgain(result.recoveries().getOrDefault(kind, List.of())))
                    .append('\n'));
    gaps(result.gaps(), out);
    result
        .figures()
        .forEach((name, value) -> out.append(String.format("%-34s %9d%n", name, value)));
    out.append(String.format("%-34s %9d%n", "findings", result.verdict().findings()));
    out.append(String.format("%-34s %9d%n", "problems", result.problems().size()));
    result.verdict().texts().forEach(text -> out.append("finding: ").append(text).append('\n'));
    result.problems().forEach(text -> out.append("problem: ").append(text).append('\n'));
    return out.toString();
  }

  private static void gaps(FaultGaps gaps, StringBuilder out) {
    for (FaultGap gap : gaps.faults()) {
      out.append(
          String.format(
              "%8.3f s  %s: %s%s, no confirmation for %d ms%s%n",
              gap.atMillis() / 1e3,
              gap.kind(),
              String.join(", ", gap.buses()),
              gap.alone() ? "" : " and another fault",
              gap.millis(),
              gap.elsewhereMillis() == null
                  ? ""
                  : ", at other buses for " + gap.elsewhereMillis() + " ms"));
    }
    for (FaultGaps.Summary summary : gaps.summaries()) {
      out.append(
          String.format(
              "%-34s %9d   no confirmation for %s%s%n",
              summary.kind() + (summary.alone() ? " alone" : " with another fault"),
              summary.faults(),
              spread(summary.all()),
              summary.elsewhere() == null
                  ? ""
                  : ", at other buses for " + spread(summary.elsewhere())));
    }
  }

  private static String spread(FaultGaps.Spread spread) {
    return spread.median() + " ms (median), " + spread.longest() + " ms (longest)";
  }

  private static String readyAgain(List<Long> millis) {
    return FaultGaps.Spread.of(millis)
        .map(times -> "   ready again after " + spread(times))
        .orElse("");
  }
}
