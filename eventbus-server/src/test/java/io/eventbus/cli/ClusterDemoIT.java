package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.demo.DemoBusProcess;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.server.config.ConfigKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Demo of several buses, as a user runs it: it must report errors, and leave nothing behind however
 * it ends. Long tests run with {@code -Pnightly}.
 */
@Timeout(180)
@Tag("nightly")
class ClusterDemoIT {
  private static final Pattern FIRST_BUS = Pattern.compile("Bus bus-1 on (ws://\\S+),");
  private static final Pattern READY = Pattern.compile("One cluster after");

  private final Path directory;
  private final List<JarCommand> commands = new ArrayList<>();
  private final List<ProcessHandle> buses = new ArrayList<>();

  ClusterDemoIT(@TempDir Path directory) {
    this.directory = directory;
  }

  @AfterEach
  void stopAll() throws Exception {
    for (JarCommand command : commands) {
      command.end();
    }
    buses.forEach(ProcessHandle::destroyForcibly);
  }

  @Test
  void anOverloadedBusIsRelievedAndOneIsDrained() throws Exception {
    JarCommand demo = start();
    assertThat(demo.exitCode()).as(demo.out() + demo.err()).isEqualTo(ExitCode.OK);
    assertThat(demo.out())
        .contains("bus-1 is overloaded and moves clients.")
        .containsPattern("bus-[23] has no clients. It is told to end.")
        .containsPattern("bus-[23] is gone from the registry.")
        .contains("0 connections were cut", "Every subscriber got exactly the events")
        .doesNotContain("BAD", "\033[");
    // A table for each phase, not one for each moment.
    assertThat(demo.out().lines()).hasSizeLessThan(120);
    assertThat(demo.err()).isEmpty();
    assertNothingIsLeft();
  }

  @Test
  void anEventThatIsDeliveredTwiceIsFound() throws Exception {
    JarCommand demo = start();
    Matcher bus = demo.awaitOut(FIRST_BUS);
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
    assertThat(demo.out()).contains("BAD").doesNotContain("Every subscriber got exactly");
    assertThat(demo.err()).containsPattern("did not get exactly .* [1-9]\\d* doubled");
  }

  private static void repeat(EventBusClient client, ReceivedEvent event) {
    client.send(
        event.topic(),
        Event.builder(event.payload()).key(event.key()).headers(event.headers()).build());
  }

  @Test
  void anInterruptedDemoLeavesNothing() throws Exception {
    JarCommand demo = starting();
    demo.signal("INT");
    assertThat(demo.exitCode()).isEqualTo(130);
    assertNothingIsLeft();
  }

  @Test
  void busesEndWithOneThatIsKilled() throws Exception {
    JarCommand demo = starting();
    demo.signal("KILL");
    demo.exitCode();
    assertBusesEnd();
  }

  @Test
  void aBusThatCannotStartSaysWhy() {
    DemoBusProcess bus =
        DemoBusProcess.start(Map.of(ConfigKey.BUS_NAME, "bus-1", ConfigKey.LISTEN_PORT, "none"));
    assertThatThrownBy(() -> bus.await(Duration.ofSeconds(30)))
        .isInstanceOf(CliFailure.class)
        .hasMessageContaining("bus bus-1 has ended before it listened")
        .hasMessageContaining("listen.port");
  }

  @Test
  void twoBusesAreNone() {
    CliHarness cli = new CliHarness();
    assertThat(cli.run("demo", "--buses", "2")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("--buses: 2 (expected: 1, or 3 to 8)");
    assertThat(cli.run("demo", "--buses", "3", "--duration", "5s")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.run("demo", "--buses", "3", "--keep")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.run("demo", "--keep", "--duration", "25h")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.run("demo", "--durable", "--buses", "1")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("--buses: 1 with --durable (expected: 3 to 8)");
    assertThat(cli.run("demo", "--durable", "--keep")).isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).contains("expected: 10s to 1h", "--keep: with --durable");
  }

  /** Starts a demo and waits until its buses are one cluster. */
  private JarCommand start() throws IOException, InterruptedException {
    JarCommand demo = starting();
    demo.awaitOut(READY);
    return demo;
  }

  /** Starts a demo and waits until it has started its buses. */
  private JarCommand starting() throws IOException, InterruptedException {
    JarCommand demo = JarCommand.watched(directory, "demo", "--buses", "3", "--duration", "10s");
    commands.add(demo);
    buses.addAll(demo.awaitChildren(3));
    return demo;
  }

  private void assertBusesEnd() throws Exception {
    for (ProcessHandle bus : buses) {
      bus.onExit().get(60, TimeUnit.SECONDS);
    }
  }

  private void assertNothingIsLeft() throws Exception {
    assertBusesEnd();
    try (Stream<Path> left = Files.list(JarCommand.temporary(directory))) {
      // Java's own are not the demo's.
      assertThat(left.filter(file -> file.getFileName().toString().startsWith("eventbus-")))
          .isEmpty();
    }
  }
}
