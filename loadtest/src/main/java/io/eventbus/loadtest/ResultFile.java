package io.eventbus.loadtest;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.loadtest.report.Chapter;
import io.eventbus.loadtest.report.HtmlReport;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultTable;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.report.Summary;
import io.eventbus.loadtest.switching.report.SwitchPage;
import io.eventbus.loadtest.switching.report.SwitchReport;
import io.eventbus.loadtest.switching.report.SwitchTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A {@code results.json} of any command that writes one. */
interface ResultFile {
  /** Returns the tables for the terminal. */
  String tables();

  /**
   * Writes the page with plots.
   *
   * @throws IOException if it cannot be written
   */
  void writePage(Path html) throws IOException;

  /** Returns what a document shows. */
  Chapter chapter();

  /** Returns the medians of each workload and system; none for results without workloads. */
  default List<Summary> summaries() {
    return List.of();
  }

  /**
   * Reads a file that was named on the command line.
   *
   * @throws ParameterException if it is none
   */
  static ResultFile read(Path file, CommandSpec spec) {
    try {
      return of(ResultsJson.read(file));
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "FILE: " + file + " (expected: a result file): " + e.getMessage(), e);
    }
  }

  private static ResultFile of(JsonNode tree) throws IOException {
    // Each kind has fields that no other has.
    if (tree.has("workloads")) {
      return new Run(ResultsJson.report(tree));
    }
    if (tree.has("plan") && tree.has("results")) {
      return new Switch(ResultsJson.as(SwitchReport.class, tree));
    }
    throw new IOException("not of run, coordination or switch");
  }

  /** Of {@code run}. */
  record Run(Report report) implements ResultFile {
    @Override
    public String tables() {
      return ResultTable.of(report);
    }

    @Override
    public void writePage(Path html) throws IOException {
      HtmlReport.write(html, report);
    }

    @Override
    public Chapter chapter() {
      return ResultTable.chapter(report);
    }

    @Override
    public List<Summary> summaries() {
      return report.summaries();
    }
  }

  /** Of {@code switch}. */
  record Switch(SwitchReport report) implements ResultFile {
    @Override
    public String tables() {
      return SwitchTable.of(report);
    }

    @Override
    public void writePage(Path html) throws IOException {
      SwitchPage.write(html, report);
    }

    @Override
    public Chapter chapter() {
      return SwitchTable.chapter(report);
    }
  }
}
