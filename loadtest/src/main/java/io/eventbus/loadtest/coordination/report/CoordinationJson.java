package io.eventbus.loadtest.coordination.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** The results for programs: every phase with every figure. */
public final class CoordinationJson {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .addModule(new SimpleModule().addSerializer(Duration.class, ToStringSerializer.instance))
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build();

  private CoordinationJson() {}

  /**
   * Writes a report.
   *
   * @param file takes the JSON
   * @param report what was found
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, CoordinationReport report) throws IOException {
    JSON.writeValue(file.toFile(), report);
  }
}
