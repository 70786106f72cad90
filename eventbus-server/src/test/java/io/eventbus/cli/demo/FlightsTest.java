package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.cli.console.CliFailure;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlightsTest {
  private final Path directory;

  FlightsTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void sampleIsWhatItsReadmeSays() {
    List<Flight> flights = Flights.read(null);
    assertThat(flights).hasSize(79_765);
    assertThat(flights.stream().map(Flight::topic).distinct()).hasSize(103);
    assertThat(flights).isSortedAccordingTo((a, b) -> Long.compare(a.millis(), b.millis()));
    assertThat(flights.get(1))
        .isEqualTo(
            new Flight(
                1,
                "flights.EWR.departed",
                "EWR",
                "departed",
                "N14228",
                1357035420000L,
                "{\"carrier\":\"UA\",\"flight\":1545,\"tailnum\":\"N14228\",\"origin\":\"EWR\","
                    + "\"dest\":\"IAH\",\"delay\":2}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a.b.c\tk\t1", "a.b\tk\t1\t{}", "a.b.c\tk\tx\t{}", "a.b.c\tk\t1\t{}\tmore"})
  void otherDataIsRefused(String line) throws Exception {
    Path file = directory.resolve("x.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write(line.getBytes(StandardCharsets.UTF_8));
    }
    assertThatThrownBy(() -> Flights.read(file))
        .isInstanceOf(CliFailure.class)
        .hasMessageContaining("cannot read " + file);
  }

  @Test
  void missingAndUnzippedFilesAreRefused() throws Exception {
    Path plain = Files.writeString(directory.resolve("plain"), "a.b.c\tk\t1\t{}");
    for (Path file : List.of(plain, directory.resolve("missing"))) {
      assertThatThrownBy(() -> Flights.read(file)).isInstanceOf(CliFailure.class);
    }
  }
}
