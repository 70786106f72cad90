package io.eventbus.cli;

import io.eventbus.cli.demo.Flight;
import io.eventbus.cli.demo.Flights;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

/** Data for demos of which only a part is needed. */
final class SomeFlights {
  private SomeFlights() {}

  /** Writes the first flights of the sample to a file, and returns it. */
  static Path write(Path directory, int count) throws IOException {
    Path data = directory.resolve("some.tsv.gz");
    try (BufferedWriter out =
        new BufferedWriter(
            new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(data)), StandardCharsets.UTF_8))) {
      for (Flight f : Flights.read(null).subList(0, count)) {
        out.write(String.join("\t", f.topic(), f.key(), Long.toString(f.millis()), f.payload()));
        out.write('\n');
      }
    }
    return data;
  }
}
