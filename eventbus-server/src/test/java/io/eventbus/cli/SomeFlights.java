package io.eventbus.cli;

import io.eventbus.cli.demo.Flight;
import io.eventbus.cli.demo.Flights;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/** Data for demos of which only a part is needed. */
final class SomeFlights {
  private SomeFlights() {}

  /** Writes the first flights of the sample to a file, and returns it. */
  static Path write(Path directory, int count) throws IOException {
    return write(directory, Flights.read(null).subList(0, count));
  }

  /**
   * Writes the first flights of the sample and another one, a hundred years later, to a file, and
   * returns it. A demo publishes the first ones at once, and then waits.
   */
  static Path writePausing(Path directory, int count) throws IOException {
    List<Flight> flights = new ArrayList<>(Flights.read(null).subList(0, count + 1));
    Flight last = flights.remove(count);
    flights.add(
        new Flight(
            last.line(),
            last.topic(),
            last.airport(),
            last.kind(),
            last.key(),
            last.millis() + Duration.ofDays(36_500).toMillis(),
            last.payload()));
    return write(directory, flights);
  }

  private static Path write(Path directory, List<Flight> flights) throws IOException {
    Path data = directory.resolve("some.tsv.gz");
    try (BufferedWriter out =
        new BufferedWriter(
            new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(data)), StandardCharsets.UTF_8))) {
      for (Flight f : flights) {
        out.write(String.join("\t", f.topic(), f.key(), Long.toString(f.millis()), f.payload()));
        out.write('\n');
      }
    }
    return data;
  }
}
