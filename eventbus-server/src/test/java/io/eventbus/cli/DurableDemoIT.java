package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.console.ExitCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Demo of durable topics, as a user runs it, with a part of the data. */
@Timeout(600)
@Tag("nightly")
class DurableDemoIT {
  private static final Pattern BUS = Pattern.compile("Bus bus-1 on (ws://\\S+),");

  private final Path directory;
  private final JarCommand demo;

  DurableDemoIT(@TempDir Path directory) throws IOException {
    this.directory = directory;
    String data = SomeFlights.write(directory, 6_000).toString();
    demo = JarCommand.watched(directory, "demo", "--durable", "--duration", "10s", "--data", data);
  }

  @AfterEach
  void stop() throws Exception {
    demo.end();
  }

  @Test
  void noReaderMissesAnEventWhenTheLeaderIsKilled() throws Exception {
    assertThat(demo.exitCode()).as(demo.out() + demo.err()).isEqualTo(ExitCode.OK);
    assertThat(demo.out())
        .containsPattern("billing has left bus-\\d after [1-9]")
        .containsPattern("bus-\\d, which leads, is killed")
        .containsPattern("no event was confirmed; now bus-\\d leads")
        .containsPattern("bus-\\d takes clients after")
        .containsPattern("billing is back, at bus-\\d")
        .containsPattern("late comes late, to bus-\\d")
        .containsPattern("log of bus-3, replay .* 6,000 .* 6,000 .* good")
        .contains("Every reader got exactly the events", "All buses have the same log")
        .doesNotContain("BAD", "\033[");
    assertThat(demo.err()).isEmpty();
    try (Stream<Path> left = Files.list(JarCommand.temporary(directory))) {
      // Java's own are not the demo's.
      assertThat(left.filter(file -> file.getFileName().toString().startsWith("eventbus-")))
          .isEmpty();
    }
  }

  @Test
  void anEventThatIsStoredTwiceIsFound() throws Exception {
    Matcher bus = demo.awaitOut(BUS);
    AtomicBoolean repeated = new AtomicBoolean();
    EventBusClient client = EventBusClient.builder().url(URI.create(bus.group(1))).connect();
    try {
      client.subscribe(
          "flights.JFK.>",
          event -> {
            if (repeated.compareAndSet(false, true)) {
              repeat(client, event);
            }
          });
      assertThat(demo.exitCode()).as(demo.out() + demo.err()).isEqualTo(ExitCode.INTEGRITY);
    } finally {
      client.close(Duration.ZERO);
    }
    assertThat(demo.out()).contains("BAD").doesNotContain("Every reader got exactly");
    assertThat(demo.err())
        .containsPattern("did not get exactly .* [1-9]\\d* doubled")
        .containsPattern("the log of bus-\\d has 1 events at other positions");
  }

  private static void repeat(EventBusClient client, ReceivedEvent event) {
    CompletionStage<Published> unused =
        client.publish(
            event.topic(),
            Event.builder(event.payload()).key(event.key()).headers(event.headers()).build());
  }
}
