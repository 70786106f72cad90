package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code eventbus buses}, {@code drain} and {@code move} with real buses. */
@Timeout(120)
class BalanceCommandIT {
  private final List<BusServer> buses = new ArrayList<>();
  private final Path root;

  BalanceCommandIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    buses.forEach(BusServer::close);
  }

  private BusServer start(String name, BusServer... others) throws Exception {
    Map<String, String> values = new HashMap<>();
    values.put("listen.host", "127.0.0.1");
    values.put("listen.port", "0");
    values.put("listen.event-loops", "1");
    values.put("admin.port", "0");
    values.put("timeouts.shutdown", "1s");
    values.put("bus.name", name);
    values.put("cluster.host", "127.0.0.1");
    values.put("cluster.port", "0");
    values.put("cluster.secret", "a-secret-for-tests-only");
    values.put("cluster.directory", root.resolve(name).toString());
    values.put("balance.enabled", "false");
    values.put("balance.drain-timeout", "5s");
    if (others.length > 0) {
      values.put("cluster.join", "127.0.0.1:" + others[0].linkPort());
    }
    BusServer bus = BusServer.start(ServerConfig.of(values));
    buses.add(bus);
    return bus;
  }

  private static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("not within 60 s: " + what).isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static CliHarness run(BusServer bus, int code, String... arguments) {
    CliHarness cli = new CliHarness();
    cli.variables.put("EVENTBUS_ADMIN_URL", "http://127.0.0.1:" + bus.adminPort());
    int got = cli.run(arguments);
    assertThat(got).as(cli.out() + cli.err()).isEqualTo(code);
    return cli;
  }

  @Test
  void clientsAreMovedAndABusIsEmptied() throws Exception {
    BusServer a = start("bus-a");
    BusServer b = start("bus-b", a);
    for (BusServer bus : buses) {
      until(
          "both have told",
          () -> {
            String shown = run(bus, 0, "buses").out();
            return shown.contains("bus-a") && shown.contains("bus-b") && !shown.contains("?");
          });
    }
    assertThat(run(a, 0, "buses").out()).startsWith("BUS    ZONE");
    assertThat(run(a, 0, "buses", "--json").out()).contains("\"clients\":0");
    BlockingQueue<URI> moved = new LinkedBlockingQueue<>();
    ConnectionListener listener =
        new ConnectionListener() {
          @Override
          public void busChanged(ConnectionInfo before, ConnectionInfo now) {
            moved.add(now.url());
          }
        };
    try (EventBusClient client =
        EventBusClient.builder().url(a.uri()).listener(listener).connect()) {
      assertThat(run(a, 0, "move", "1", "--to", "bus-b").out())
          .isEqualTo("Connection 1 was asked to go to bus-b.\n");
      assertThat(moved.poll(60, TimeUnit.SECONDS)).isEqualTo(b.uri());
      assertThat(run(a, 1, "move", "99").err()).contains("connection: 99");
      assertThat(run(a, 2, "move", "1", "--to", "not a bus").err()).contains("not a bus");
      // Told to the other bus, which passes it on.
      assertThat(run(a, 0, "drain", "bus-b").out()).endsWith("Bus bus-b has no clients.\n");
      assertThat(moved.poll(60, TimeUnit.SECONDS)).isEqualTo(a.uri());
      assertThat(run(a, 0, "buses").out()).contains("draining");
      assertThat(run(b, 0, "drain", "--undo", "bus-b").out())
          .isEqualTo("Bus bus-b takes clients again.\n");
      assertThat(run(a, 1, "drain", "nobody").err()).contains("nobody");
      assertThat(client.counters().busChanges()).isEqualTo(2);
    }
  }
}
