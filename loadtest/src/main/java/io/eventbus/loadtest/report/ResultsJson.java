package io.eventbus.loadtest.report;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import io.eventbus.loadtest.run.RunResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.StringJoiner;

/** The results for programs: every run with every figure, and the medians. */
public final class ResultsJson {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .addModule(
              new SimpleModule()
                  .addSerializer(Duration.class, ToStringSerializer.instance)
                  .addDeserializer(
                      Duration.class, new StdDelegatingDeserializer<>(new DurationText())))
          .enable(SerializationFeature.INDENT_OUTPUT)
          // A file has what follows from the figures, too: medians, targets.
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private ResultsJson() {}

  private static final class DurationText extends StdConverter<String, Duration> {
    @Override
    public Duration convert(String text) {
      return Duration.parse(text);
    }
  }

  /**
   * Writes a report.
   *
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, Report report) throws IOException {
    ObjectNode tree = JSON.valueToTree(report);
    tree.set("summaries", JSON.valueToTree(report.summaries()));
    tree.set("targets", JSON.valueToTree(report.targets()));
    WholeFile.write(file, JSON.writeValueAsBytes(tree));
  }

  /**
   * Writes any value.
   *
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, Object value) throws IOException {
    WholeFile.write(file, JSON.writeValueAsBytes(value));
  }

  /**
   * Writes medians: an array with a line for each workload and system.
   *
   * @throws IOException if it cannot be written
   */
  public static void writeMedians(Path file, List<Summary> summaries) throws IOException {
    ObjectWriter line = JSON.writer().without(SerializationFeature.INDENT_OUTPUT);
    StringJoiner lines = new StringJoiner(",\n", "[\n", "\n]\n");
    for (Summary summary : summaries) {
      lines.add(line.writeValueAsString(summary));
    }
    WholeFile.write(file, lines.toString());
  }

  /**
   * Reads what {@link #writeMedians} wrote.
   *
   * @throws IOException if it cannot be read or is something else
   */
  public static List<Summary> readMedians(Path file) throws IOException {
    return JSON.readValue(file.toFile(), new TypeReference<List<Summary>>() {});
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read or is no JSON
   */
  public static JsonNode read(Path file) throws IOException {
    return JSON.readTree(file.toFile());
  }

  /**
   * Creates a report of what {@link #write(Path, Report)} wrote, also in earlier versions.
   *
   * @throws IOException if it is no such report
   */
  public static Report report(JsonNode tree) throws IOException {
    if (tree instanceof ObjectNode fields && !fields.has("command")) {
      // Versions before this field was added.
      fields.put("command", "");
    }
    try {
      return JSON.treeToValue(tree, Report.class);
    } catch (JsonMappingException e) {
      // The reference says where; the whole message repeats the file.
      throw new IOException(e.getOriginalMessage() + " at " + e.getPathReference(), e);
    }
  }

  /**
   * Writes the result of one run.
   *
   * @param file takes the JSON; who waits for the file does not see half of it
   * @throws IOException if it cannot be written
   */
  public static void writeRun(Path file, RunResult result) throws IOException {
    WholeFile.write(file, JSON.writeValueAsBytes(result));
  }

  /**
   * Reads what {@link #writeRun} wrote.
   *
   * @throws IOException if it cannot be read or is not a result
   */
  public static RunResult readRun(Path file) throws IOException {
    return JSON.readValue(file.toFile(), RunResult.class);
  }
}
