package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.loadtest.driver.JavaCommand;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultsJson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A load test that is stopped by a signal in the middle. */
@Timeout(900)
@Nightly
class StopSystemIT {
  @TempDir private Path directory = Path.of("");

  @Test
  void whatWasMeasuredIsWrittenAndNothingIsLeft() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    Path output = directory.resolve("results");
    Path workload = directory.resolve("short.yaml");
    Files.writeString(workload, "{name: short, warmUp: 100ms, duration: 1s, runs: 3, window: 64}");
    String own = "-Djava.io.tmpdir=" + temporary;
    Process process =
        new ProcessBuilder(
                JavaCommand.of(
                    List.of("-Xmx128m", own),
                    LoadTest.class.getName(),
                    List.of(
                        "run",
                        workload.toString(),
                        "--output=" + output,
                        "--server-jvm=-Xmx128m",
                        "--client-jvm=-Xmx128m " + own)))
            .redirectErrorStream(true)
            .start();
    List<ProcessHandle> started;
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("2 of 3")) {
          break;
        }
      }
      started = process.descendants().toList();
      process.destroy();
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(process.exitValue()).isEqualTo(128 + 15);
    JsonNode tree = ResultsJson.read(output.resolve("results.json"));
    Report report = ResultsJson.report(tree);
    assertThat(report.planned()).isEqualTo(3);
    assertThat(report.results()).hasSizeBetween(1, 2);
    assertThat(report.results()).allMatch(result -> result.problem() == null);
    assertThat(Files.readString(output.resolve("report.html"))).contains("Not finished: ");
    for (ProcessHandle handle : started) {
      handle.onExit().get(60, TimeUnit.SECONDS);
    }
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left).isEmpty();
    }
  }
}
