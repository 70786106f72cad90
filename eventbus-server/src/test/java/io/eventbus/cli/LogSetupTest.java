package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.server.config.AuditConfig;
import io.eventbus.server.config.LogConfig;
import io.eventbus.server.sys.AuditTrail;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogSetupTest {
  private final LoggerContext context = new LoggerContext();

  private String line(@Nullable Throwable thrown, String format, Object... arguments) {
    LoggingEvent event =
        new LoggingEvent(
            "test", context.getLogger("io.eventbus.Test"), Level.WARN, format, thrown, arguments);
    event.setThreadName("main");
    event.setTimeStamp(1_767_323_045_006L);
    return new String(
        LogSetup.encoder(context, LogConfig.Format.JSON).encode(event), StandardCharsets.UTF_8);
  }

  @Test
  void aLineOfJsonIsWhatAPersonWouldRead() throws IOException {
    String line = line(null, "Bus {} is UP in the cluster {}", "bus-1", "\"prod\"\n");
    assertThat(line).endsWith("\n").containsOnlyOnce("\n");
    JsonNode json = new ObjectMapper().readTree(line);
    assertThat(json.path("message").asText())
        .isEqualTo("Bus bus-1 is UP in the cluster \"prod\"\n");
    assertThat(json.path("@timestamp").asText()).isEqualTo("2026-01-02T03:04:05.006Z");
    assertThat(json.path("level").asText()).isEqualTo("WARN");
    assertThat(json.path("logger").asText()).isEqualTo("io.eventbus.Test");
    assertThat(json.path("thread").asText()).isEqualTo("main");
    List<String> names = new ArrayList<>();
    json.fieldNames().forEachRemaining(names::add);
    assertThat(names).containsExactly("@timestamp", "level", "logger", "thread", "message");
  }

  @Test
  void theAuditLogHasAFileOfBoundedSize(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("audit (100).log");
    // The log of a process has one.
    context.setMDCAdapter(new LogbackMDCAdapter());
    LogSetup.audit(context, new AuditConfig(file, 64 << 10, 2));
    Logger lines = context.getLogger(AuditTrail.LINES);
    String line = "x".repeat(8 << 10);
    for (int i = 0; i < 50; i++) {
      lines.info("{\"number\":" + i + ",\"text\":\"{} " + line + "\"}");
    }
    lines.info("{\"last\":{}}");
    context.stop();
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> found = files.toList();
      assertThat(found).hasSize(3);
      for (Path each : found) {
        assertThat(Files.size(each)).isLessThan(80 << 10);
      }
    }
    assertThat(Files.readString(file)).endsWith("{\"last\":{}}\n");
  }

  @Test
  void anAuditLogThatCannotBeWrittenIsNoStart(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "").resolve("audit.log");
    assertThatThrownBy(() -> LogSetup.audit(context, new AuditConfig(file, 64 << 10, 1)))
        .isInstanceOf(CliFailure.class)
        .hasMessageStartingWith("audit.file: " + file);
  }

  @Test
  void aStackTraceIsOneField() throws IOException {
    String line = line(new IllegalStateException("broken", new IOException("inside")), "failed");
    assertThat(line).containsOnlyOnce("\n");
    assertThat(new ObjectMapper().readTree(line).path("stack_trace").asText())
        .contains("IllegalStateException: broken", "Caused by: java.io.IOException: inside");
  }
}
