package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.demo.Flight;
import io.eventbus.cli.demo.Flights;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Demo that is kept until it is told to end, as a user runs it, with a part of the data. */
@Timeout(600)
class KeptDemoIT {
  private static final Pattern BUS = Pattern.compile("Bus on (ws://\\S+),");
  private static final Pattern STARTED = Pattern.compile("Ctrl-C ends it");
  private static final int EVENTS = 200;
  private static final int SIGTERM = 128 + 15;

  private final Path directory;
  private final JarCommand demo;

  KeptDemoIT(@TempDir Path directory) throws IOException {
    this.directory = directory;
    String data = SomeFlights.writePausing(directory, EVENTS).toString();
    demo = JarCommand.watched(directory, "demo", "--keep", "--duration", "1h", "--data", data);
  }

  @AfterEach
  void stop() throws Exception {
    demo.end();
  }

  @Test
  void whoComesLateGetsWhatWasPublishedBefore() throws Exception {
    demo.awaitOut(STARTED);
    URI bus = URI.create(demo.awaitOut(BUS).group(1));
    List<String> published =
        Flights.read(null).stream().limit(EVENTS).map(KeptDemoIT::text).toList();
    assertThat(stored(bus)).isEqualTo(published);
    // All are published by now: this one gets none of them live.
    assertThat(stored(bus)).isEqualTo(published);
    assertThat(temporary()).hasSize(1);

    demo.signal("TERM");
    assertThat(demo.exitCode()).as(demo.err()).isEqualTo(SIGTERM);
    assertThat(demo.err()).isEmpty();
    assertThat(temporary()).isEmpty();
  }

  /** Reads as the pages do. */
  private static List<String> stored(URI bus) throws InterruptedException {
    BlockingQueue<ReceivedEvent> events = new LinkedBlockingQueue<>();
    EventBusClient client = EventBusClient.builder().url(bus).connect();
    try {
      client.replay().filter("flights.*.*").from(Start.FIRST).handler(events::add);
      List<String> texts = new ArrayList<>();
      while (texts.size() < EVENTS) {
        ReceivedEvent event = events.poll(2, TimeUnit.MINUTES);
        assertThat(event).as("event behind " + texts).isNotNull();
        texts.add(event.topic() + " " + event.text());
      }
      return texts;
    } finally {
      client.close(Duration.ZERO);
    }
  }

  private static String text(Flight flight) {
    return flight.topic() + " " + flight.payload();
  }

  private List<Path> temporary() throws IOException {
    try (Stream<Path> left = Files.list(JarCommand.temporary(directory))) {
      // Java's own are not the demo's.
      return left.filter(file -> file.getFileName().toString().startsWith("eventbus-")).toList();
    }
  }
}
