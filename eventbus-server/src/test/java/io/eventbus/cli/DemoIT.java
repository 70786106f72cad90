package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.console.BusLauncher;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Demo with a real bus in this JVM: it must report errors. */
@Timeout(120)
@Tag("nightly")
class DemoIT {
  private final Path data;
  private final CliHarness cli = new CliHarness();

  DemoIT(@TempDir Path directory) throws IOException {
    data = SomeFlights.write(directory, 3_000);
  }

  @Test
  void allIsGood() {
    cli.launcher = Main::start;
    assertThat(demo()).as(cli.out() + cli.err()).isEqualTo(ExitCode.OK);
    assertThat(cli.out())
        .contains("Replaying 3,000 flight events", "departures-jfk", "publisher to bus")
        .contains("Every subscriber got exactly")
        .doesNotContain("BAD", "\033[");
  }

  @Test
  void anEventThatIsDeliveredTwiceIsFound() {
    Repeater repeater = new Repeater();
    cli.launcher = config -> repeater.watch(Main.start(config));
    assertThat(demo()).as(cli.out() + cli.err()).isEqualTo(ExitCode.INTEGRITY);
    assertThat(cli.out()).contains("BAD", "NOT every subscriber");
  }

  private int demo() {
    return cli.run("demo", "--duration", "2s", "--data", data.toString());
  }

  /** Publishes the first event that it sees once more. */
  private static final class Repeater {
    private final AtomicBoolean repeated = new AtomicBoolean();

    BusLauncher.RunningBus watch(BusLauncher.RunningBus bus) {
      EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
      client
          .subscribe("flights.>", event -> repeat(client, event))
          .ready()
          .toCompletableFuture()
          .join();
      return new BusLauncher.RunningBus() {
        @Override
        public String name() {
          return bus.name();
        }

        @Override
        public URI uri() {
          return bus.uri();
        }

        @Override
        public int adminPort() {
          return bus.adminPort();
        }

        @Override
        public void close() {
          client.close();
          bus.close();
        }
      };
    }

    private void repeat(EventBusClient client, ReceivedEvent event) {
      if (repeated.compareAndSet(false, true)) {
        client.send(
            event.topic(),
            Event.builder(event.payload()).key(event.key()).headers(event.headers()).build());
      }
    }
  }
}
