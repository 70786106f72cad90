package io.eventbus.loadtest.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.eventbus.loadtest.run.RunResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The results for programs: every run with every figure, and the medians. */
public final class ResultsJson {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .addModule(new SimpleModule().addSerializer(Duration.class, ToStringSerializer.instance))
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build();

  private ResultsJson() {}

  /**
   * Writes a report.
   *
   * @param file takes the JSON
   * @param report what was found
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, Report report) throws IOException {
    ObjectNode tree = JSON.valueToTree(report);
    tree.set("summaries", JSON.valueToTree(report.summaries()));
    tree.set("targets", JSON.valueToTree(report.targets()));
    JSON.writeValue(file.toFile(), tree);
  }

  /**
   * Writes a report of another kind.
   *
   * @param file takes the JSON
   * @param report what was found
   * @param targets what was to be reached
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, Object report, List<Target> targets) throws IOException {
    ObjectNode tree = JSON.valueToTree(report);
    tree.set("targets", JSON.valueToTree(targets));
    JSON.writeValue(file.toFile(), tree);
  }

  /**
   * Writes the result of one run.
   *
   * @param file takes the JSON
   * @param result of one run
   * @throws IOException if it cannot be written
   */
  public static void writeRun(Path file, RunResult result) throws IOException {
    JSON.writeValue(file.toFile(), result);
  }

  /**
   * Reads what {@link #writeRun} wrote.
   *
   * @param file the JSON
   * @return the result
   * @throws IOException if it cannot be read or is not a result
   */
  public static RunResult readRun(Path file) throws IOException {
    return JSON.readValue(file.toFile(), RunResult.class);
  }
}
