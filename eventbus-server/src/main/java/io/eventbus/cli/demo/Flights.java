package io.eventbus.cli.demo;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Reads the demo's data; {@code examples/flights/README.md} says what it is. */
public final class Flights {
  private static final String RESOURCE = "flights/flights-2013-01.tsv.gz";
  private static final int MAX_EVENTS = 1_000_000;

  private Flights() {}

  /**
   * Reads a file, or the sample that comes with the command.
   *
   * @throws CliFailure if it cannot be read
   */
  public static List<Flight> read(@Nullable Path file) {
    String name = file == null ? RESOURCE : file.toString();
    try (InputStream in =
        file == null ? Flights.class.getResourceAsStream(RESOURCE) : Files.newInputStream(file)) {
      if (in == null) {
        throw new CliFailure(ExitCode.FAILED, RESOURCE + " is not in this jar");
      }
      return parse(in);
    } catch (IOException | IllegalArgumentException e) {
      throw new CliFailure(ExitCode.FAILED, "cannot read " + name + ": " + Failures.describe(e), e);
    }
  }

  private static List<Flight> parse(InputStream in) throws IOException {
    List<Flight> flights = new ArrayList<>();
    BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(in, 1 << 16), StandardCharsets.UTF_8));
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      if (flights.size() == MAX_EVENTS) {
        throw new IllegalArgumentException("too many lines (expected: up to " + MAX_EVENTS + ")");
      }
      flights.add(parse(flights.size(), line));
    }
    if (flights.isEmpty()) {
      throw new IllegalArgumentException("no lines (expected: at least one)");
    }
    return flights;
  }

  private static Flight parse(int number, String line) {
    String[] columns = line.split("\t", -1);
    String[] tokens = columns[0].split("\\.", -1);
    if (columns.length != 4 || tokens.length != 3) {
      throw new IllegalArgumentException(
          "line " + (number + 1) + " (expected: topic of three tokens, key, time and payload)");
    }
    return new Flight(
        number,
        columns[0],
        tokens[1],
        tokens[2],
        columns[1],
        Long.parseLong(columns[2]),
        columns[3]);
  }
}
