package io.eventbus.conformance.report;

import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import io.eventbus.conformance.scenario.Scenario;

/** Report to be committed with a library: results without times. */
public final class MarkdownReport {
  private MarkdownReport() {}

  /** Returns the report of a run. */
  public static String of(Result result) {
    StringBuilder page = new StringBuilder();
    page.append("# Conformance of ").append(result.agent()).append("\n\n");
    page.append(result.count(Verdict.PASSED)).append(" scenarios passed, ");
    page.append(result.count(Verdict.FAILED)).append(" failed, ");
    page.append(result.count(Verdict.LEFT_OUT)).append(" left out.\n\n");
    page.append("| scenario | the library | | |\n|---|---|---|---|\n");
    for (Outcome outcome : result.outcomes()) {
      Scenario scenario = outcome.scenario();
      page.append("| `").append(scenario.id()).append("` | ").append(cell(scenario.says()));
      page.append(" | ").append(result.text(outcome)).append(" | ");
      String why = result.known().reason(scenario.id());
      page.append(cell(why.isEmpty() ? outcome.message() : why)).append(" |\n");
    }
    return page.toString();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace('\n', ' ');
  }
}
