package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.client.EventBusClient;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Benchmark of real buses, in this process and on free ports. */
@Timeout(120)
@Tag("nightly")
class BenchIT {
  private final CliHarness cli = new CliHarness();
  private @Nullable BusServer bus;

  private String start(String... settings) throws Exception {
    Map<String, String> values =
        new TreeMap<>(
            Map.of(
                "listen.host", "127.0.0.1",
                "listen.port", "0",
                "listen.event-loops", "2",
                "admin.port", "0",
                "auth.resume-key-file", TestKey.FILE.toString()));
    for (int i = 0; i < settings.length; i += 2) {
      values.put(settings[i], settings[i + 1]);
    }
    BusServer started = BusServer.start(ServerConfig.of(values));
    bus = started;
    return started.uri().toString();
  }

  @AfterEach
  void stop() {
    if (bus != null) {
      bus.close();
    }
  }

  private JsonNode json(String... arguments) throws Exception {
    assertThat(cli.run(arguments)).as(cli::err).isEqualTo(ExitCode.OK);
    return new ObjectMapper().readTree(cli.out());
  }

  @Test
  void everyEventIsCountedAtEverySubscriber() throws Exception {
    JsonNode found =
        json(
            "bench",
            "-u",
            start(),
            "-s",
            "3",
            "-p",
            "64",
            "-d",
            "1500ms",
            "--warm-up",
            "200ms",
            "-o",
            "json");
    assertThat(found.path("published").asLong()).isPositive();
    assertThat(found.path("sent").asLong()).isGreaterThan(found.path("published").asLong());
    assertThat(found.path("seconds").asDouble()).isGreaterThan(1.0);
    assertThat(found.path("publishedPerSecond").asDouble()).isPositive();
    assertThat(found.path("latencyMicros").path("count").asLong())
        .isBetween(1L, 3 * found.path("sent").asLong());
    assertThat(found.path("latencyMicros").path("p50").asDouble()).isPositive();
    for (String wrong : new String[] {"lost", "told", "doubled", "reordered", "foreign"}) {
      assertThat(found.path(wrong).asLong(-1)).as(wrong).isZero();
    }
    assertThat(cli.err()).contains("measuring").contains("published/s");
  }

  @Test
  void aRateIsKept() throws Exception {
    JsonNode found =
        json("bench", "-u", start(), "-r", "200", "-d", "1s", "--warm-up", "100ms", "-o", "json");
    assertThat(found.path("sent").asLong()).isEqualTo(220);
    assertThat(found.path("lost").asLong(-1)).isZero();
  }

  @Test
  void publishesOnItsOwnTopicsOnly() throws Exception {
    String url = start();
    Set<String> topics = new ConcurrentSkipListSet<>();
    try (EventBusClient other = EventBusClient.builder().url(url).connect()) {
      other
          .subscribe(">", event -> topics.add(event.topic()))
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
      JsonNode found =
          json("bench", "-u", url, "-r", "200", "-d", "300ms", "--warm-up", "0s", "-o", "json");
      assertThat(topics).containsExactly(found.path("topic").asText());
      assertThat(found.path("topic").asText()).matches("eventbus-bench\\.[0-9a-f]{16}\\.events");
    }
  }

  @Test
  void aTableIsForPeople() throws Exception {
    String url = start("bus.name", "measured");
    assertThat(cli.run("bench", "-u", url, "-r", "100", "-d", "200ms", "--warm-up", "0s"))
        .as(cli::err)
        .isEqualTo(ExitCode.OK);
    assertThat(cli.out())
        .contains("measured", "1 publisher, 1 subscriber, 128 bytes, 100 events/s")
        .contains("p50 ", "0 lost, 0 doubled, 0 out of order, 0 foreign");
  }

  @Test
  void aTokenIsShown() throws Exception {
    String url = start("auth.token", "right");
    String[] some = {"bench", "-u", url, "-d", "100ms", "--warm-up", "0s", "--token", "wrong"};
    assertThat(cli.run(some)).isEqualTo(ExitCode.NOT_CONNECTED);
    some[some.length - 1] = "right";
    assertThat(cli.run(some)).as(cli::err).isEqualTo(ExitCode.OK);
  }

  @Test
  void refusalsOfTheBusAreReported() throws Exception {
    String url = start("auth.block", "nobody");
    assertThat(cli.run("bench", "-u", url, "-d", "100ms", "--warm-up", "0s"))
        .isEqualTo(ExitCode.FAILED);
    assertThat(cli.err()).contains("cannot subscribe").contains("auth.block");
    assertThat(
            cli.run(
                "bench",
                "-u",
                url,
                "-d",
                "100ms",
                "--warm-up",
                "0s",
                "-r",
                "100",
                "--overflow",
                "drop_oldest"))
        .as(cli::err)
        .isEqualTo(ExitCode.OK);
  }

  @Test
  void aBusThatIsNotThereIsThree() {
    assertThat(cli.run("bench", "-u", "ws://127.0.0.1:1/bus")).isEqualTo(ExitCode.NOT_CONNECTED);
  }
}
